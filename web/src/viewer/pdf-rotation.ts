import type { PDFPageProxy } from 'pdfjs-dist'

/** The rotation of a page in degrees, clockwise: its own, and that of the view. */
export const rotated = (page: PDFPageProxy, rotation: number) => (page.rotate + rotation) % 360

/** A size after a rotation by a multiple of 90 degrees. */
export function turned<T extends { readonly width: number; readonly height: number }>(
  size: T,
  rotation: number,
) {
  return rotation % 180 === 0 ? size : { width: size.height, height: size.width }
}
