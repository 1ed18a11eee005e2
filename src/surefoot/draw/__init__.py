"""Pictures: SVG, and PNG from it."""
