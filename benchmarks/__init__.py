"""What ``make bench`` measures beyond ``simuverse bench``."""
