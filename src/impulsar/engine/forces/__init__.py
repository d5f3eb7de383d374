"""Applied forces: each file gives its wrench and power, and total.py has the list of them."""
