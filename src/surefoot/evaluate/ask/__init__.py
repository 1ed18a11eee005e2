"""Questions put to a pipeline in several ways, each answer kept."""
