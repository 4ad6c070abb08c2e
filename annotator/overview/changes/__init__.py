"""Changes of the codebook with what they would touch, and what is labelled again."""
