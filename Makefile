# Two commands do everything: `make book`, `make test`. The work is in book/tools.
PYTHON ?= python3

.PHONY: book serve notebooks assignments test machines test-long mutants colab-check lowest lock-check lint-workflows offline pdf clean help python

help:
	@echo 'make book        build everything: environment, notebooks, pages'
	@echo 'make serve       open the built book in a browser'
	@echo 'make test        build the book, then run the tests'
	@echo 'make test-long   the few tests that compute for minutes, which make test leaves out'
	@echo 'make machines    both commands on every machine that a newcomer might have; ONLY="path umask"'
	@echo 'make notebooks   re-execute the saved notebooks; ONLY=01_order for one'
	@echo 'make assignments cut the student notebooks out of notebooks/solutions'
	@echo 'make colab-check run every notebook as Colab and Kaggle would; SET=colab, ONLY=01_order'
	@echo 'make lowest      the package on the lowest versions that it admits'
	@echo 'make lock-check  a wheel for each locked version on every Python and machine'
	@echo 'make offline     the whole site as one zip, and open it as files'
	@echo 'make pdf         the book on paper'
	@echo 'make mutants     does a test see each small fault put into the package? ONLY=rope for one'
	@echo 'make clean       remove what was built (.venv stays)'

# What the book cannot be built with is told so in a sentence; an old Python could not even parse the tools.
book serve notebooks assignments test machines test-long mutants colab-check lowest lock-check lint-workflows offline pdf: python

python:
	@command -v "$(PYTHON)" >/dev/null || { echo 'There is no `$(PYTHON)` here: install Python, as README.md says, or name yours, as in `make book PYTHON=python3.12`.' >&2; exit 1; }
	@"$(PYTHON)" book/tools/oldest.py

book:
	@"$(PYTHON)" book/tools/make_book.py

serve:
	@"$(PYTHON)" book/tools/make_serve.py

notebooks:
	@"$(PYTHON)" book/tools/make_notebooks.py $(ONLY)

assignments:
	@"$(PYTHON)" book/tools/make_assignments.py

test:
	@QUICK=$(QUICK) "$(PYTHON)" book/tools/make_test.py

machines:
	@FULL=$(FULL) "$(PYTHON)" book/tools/make_machines.py $(ONLY)

test-long:
	@"$(PYTHON)" book/tools/make_test_long.py

mutants:
	@"$(PYTHON)" book/tools/make_mutants.py $(ONLY)

colab-check:
	@"$(PYTHON)" book/tools/colab_check.py $(SET) $(ONLY)

lowest:
	@"$(PYTHON)" book/tools/lowest_check.py

lock-check:
	@"$(PYTHON)" book/tools/lock_check.py

lint-workflows:
	@"$(PYTHON)" book/tools/lint_workflows.py

offline:
	@"$(PYTHON)" book/tools/make_offline.py

pdf:
	@"$(PYTHON)" book/tools/make_pdf.py

clean:
	rm -rf _build book/_assets/vendor .pytest_cache .ruff_cache
