"""What a hypothesis has met: constraints compiled to tables that many hypotheses walk through."""
