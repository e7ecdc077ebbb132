"""Translation without parallel text: an encoder and a decoder trained by denoising and back-translation."""
