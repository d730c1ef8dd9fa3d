import { InvalidObject } from '../objects/index.ts'

/** Writes values into a buffer that grows as needed. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(512)
  #at = 0

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#at++] = value
  }

  /** A non-negative safe integer, seven bits per byte, low bits first (LEB128). */
  varint(value: number): void {
    this.#reserve(8)
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#bytes[this.#at++] = (rest % 0x80) | 0x80
    this.#bytes[this.#at++] = rest
  }

  double(value: number): void {
    this.#reserve(8)
    this.#at = this.#bytes.writeDoubleBE(value, this.#at)
  }

  id(hex: string): void {
    this.#reserve(20)
    this.#at += this.#bytes.write(hex, this.#at, 20, 'hex')
  }

  /** Writes text without a length prefix. Returns its length in bytes. */
  utf8(text: string): number {
    this.#reserve(3 * text.length)
    const length = this.#bytes.write(text, this.#at)
    this.#at += length
    return length
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  /** A copy of the written bytes, without spare capacity. */
  finish(): Buffer {
    return Buffer.copyBytesFrom(this.#bytes, 0, this.#at)
  }

  #reserve(count: number): void {
    if (this.#at + count <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#at + count, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}

/** Reads the output of a ByteWriter. Throws InvalidObject instead of reading past the end. */
export class ByteReader {
  readonly bytes: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get left(): number {
    return this.bytes.length - this.#at
  }

  varint(): number {
    let value = 0
    let scale = 1
    for (let i = 0; i < 8; i++) {
      const byte = this.bytes[this.#at++]
      if (byte === undefined) throw new InvalidObject('ends within a number')
      value += (byte & 0x7f) * scale
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break
        return value
      }
      scale *= 0x80
    }
    throw new InvalidObject('holds a number that is too large')
  }

  /** A count of items of at least `least` bytes each. Checked against the bytes left, so that it bounds allocations. */
  count(least: number): number {
    const count = this.varint()
    if (count * least > this.left) throw new InvalidObject('counts more than it holds')
    return count
  }

  double(): number {
    return this.bytes.readDoubleBE(this.skip(8))
  }

  /** Skips bytes and returns their offset. */
  skip(count: number): number {
    if (count > this.left) throw new InvalidObject('ends too soon')
    const at = this.#at
    this.#at += count
    return at
  }

  /** Throws if bytes are left. */
  end(): void {
    if (this.left > 0) throw new InvalidObject('goes on after its end')
  }
}
