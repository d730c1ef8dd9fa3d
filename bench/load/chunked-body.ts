const LINE_FEED = 0x0a

/** Reads the framing of a chunked body (RFC 9112, 7.1) to find its end and its length. The content is not kept. */
export class ChunkedBody {
  /** Bytes of the content so far. */
  bytes = 0
  /** The beginning of a line whose end has not arrived. */
  #line = ''
  /** Bytes of the current chunk that have not arrived, with the line break after them. */
  #missing = 0
  #isInTrailer = false

  /** Takes the next bytes. Returns whether the body is complete. */
  take(bytes: Buffer): boolean {
    for (let at = 0; at < bytes.length; ) {
      if (this.#missing > 0) {
        const taken = Math.min(this.#missing, bytes.length - at)
        this.#missing -= taken
        at += taken
        continue
      }
      const end = bytes.indexOf(LINE_FEED, at)
      this.#line += bytes.toString('latin1', at, end < 0 ? bytes.length : end)
      if (end < 0) return false
      at = end + 1
      if (this.#takeLine()) return true
    }
    return false
  }

  #takeLine(): boolean {
    const line = this.#line.trim()
    this.#line = ''
    if (this.#isInTrailer) return line === ''
    const size = Number.parseInt(line, 16)
    if (Number.isNaN(size)) throw new Error(`a chunk has no size: ${line.slice(0, 40)}`)
    if (size === 0) this.#isInTrailer = true
    else this.#missing = size + 2
    this.bytes += size
    return false
  }
}
