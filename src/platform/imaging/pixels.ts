/** An uncompressed image: red, green, blue and alpha, one byte each. */
export interface Pixels {
  readonly data: Buffer
  readonly width: number
  readonly height: number
}
