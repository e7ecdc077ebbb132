"""What sentence encoders are worth."""
