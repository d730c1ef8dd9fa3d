/** A rectangle in the content of a list, in pixels from its top left corner. */
export interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/** Where the entries of a list are, rendered or not. */
export interface GridLayout {
  readonly headPixels: number
  readonly rowPixels: number
  /** Number of entries. */
  readonly count: number
  /** From left to right. A list has one that is as wide as the list. */
  readonly columns: readonly { readonly left: number; readonly right: number }[]
  /** The gap above an entry. */
  readonly gapPixels: number
}

export const boxBetween = (x1: number, y1: number, x2: number, y2: number): Box => ({
  left: Math.min(x1, x2),
  top: Math.min(y1, y2),
  right: Math.max(x1, x2),
  bottom: Math.max(y1, y2),
})

/** The entries that a rectangle touches, in order. */
export function placesWithin(box: Box, layout: GridLayout): number[] {
  const { headPixels, rowPixels, count, columns, gapPixels } = layout
  const top = Math.max(0, box.top - headPixels)
  const bottom = box.bottom - headPixels
  const places: number[] = []
  if (bottom < 0) return places
  const lastRow = Math.min(Math.floor(bottom / rowPixels), Math.ceil(count / columns.length) - 1)
  for (let row = Math.floor(top / rowPixels); row <= lastRow; row += 1) {
    if (bottom <= row * rowPixels + gapPixels) continue
    columns.forEach(({ left, right }, column) => {
      const place = row * columns.length + column
      if (place < count && left < box.right && right > box.left) places.push(place)
    })
  }
  return places
}

/** Pixels to scroll in one frame while the pointer is near an edge of the list or beyond it. */
export function scrollStep(pointer: number, start: number, end: number): number {
  const beyond =
    pointer < start + EDGE_PIXELS ? pointer - start - EDGE_PIXELS : Math.max(0, pointer - end + EDGE_PIXELS)
  return Math.sign(beyond) * Math.min(MAX_STEP_PIXELS, Math.ceil(Math.abs(beyond) / 1.5))
}

const EDGE_PIXELS = 24
const MAX_STEP_PIXELS = 40
