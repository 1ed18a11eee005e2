"""Questions asked of a pipeline in several ways, each answer kept."""
