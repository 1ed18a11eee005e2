"""Verifiers: does this evidence carry this sentence?"""
