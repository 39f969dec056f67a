"""Strength tests as functions of results: is the candidate stronger than the baseline?"""
