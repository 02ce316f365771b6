"""Measurements that anyone can repeat, on data invented here."""
