"""A page's buttons to Colab and Kaggle: the notebook as the branch has it, with its address."""

import addressed
import repository

GROUP = "launch-buttons"  # the theme's name of them
KAGGLE = {"type": "link", "text": "Kaggle", "icon": "fa-brands fa-kaggle"}


def open_the_branch(app, pagename, templatename, context, doctree):
    """The theme knows Colab alone, and one branch for it and for "edit this page"."""
    links = repository.open_in(repository.for_site(), pagename.removeprefix(f"{addressed.FOLDER}/"))
    for group in context.get("header_buttons", ()):
        if group.get("label") == GROUP:
            (colab,) = group["buttons"]
            kaggle = KAGGLE | {"tooltip": colab["tooltip"].replace("Colab", "Kaggle")}
            group["buttons"] = [
                button | {"url": links[button["text"]]} for button in (colab, kaggle)
            ]


def setup(app):
    app.connect("html-page-context", open_the_branch, priority=600)  # behind the theme's
    return {"version": "1", "parallel_read_safe": True}
