"""``python -m fullrank`` is the command line."""

from fullrank.cli import main

if __name__ == "__main__":  # processes that a run starts import this module too
    main()
