"""nbgrader's settings for these sources; a course keeps a copy in its folder."""

c = get_config()  # noqa: F821 -- nbgrader defines it
c.ClearSolutions.code_stub = {"python": 'raise NotImplementedError("not written yet")'}
c.ClearSolutions.text_stub = "*Write your answer here, in place of this line.*"
