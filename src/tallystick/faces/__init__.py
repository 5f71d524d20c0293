"""The faces: what people and programs touch. Nothing below imports a face."""
