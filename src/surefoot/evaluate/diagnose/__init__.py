"""The diagnosis of an evaluation: the stages that lost records, the causes, and the first change to make."""
