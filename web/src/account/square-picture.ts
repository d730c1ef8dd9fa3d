const SIDE = 384

/** Crops the center of an image to a small square PNG. Throws if the file is not an image. */
export async function squarePicture(file: Blob): Promise<Blob> {
  const whole = await createImageBitmap(file)
  const side = Math.min(whole.width, whole.height)
  const canvas = document.createElement('canvas')
  const drawn = Math.min(SIDE, side)
  canvas.width = drawn
  canvas.height = drawn
  const context = canvas.getContext('2d')
  if (context === null) throw new Error('no canvas')
  context.imageSmoothingQuality = 'high'
  context.drawImage(
    whole,
    (whole.width - side) / 2,
    (whole.height - side) / 2,
    side,
    side,
    0,
    0,
    drawn,
    drawn,
  )
  whole.close()
  const made = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
  if (made === null) throw new Error('not drawn')
  return made
}
