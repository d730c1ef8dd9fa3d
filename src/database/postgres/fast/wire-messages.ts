import { ColumnArray, type Parameter } from '../batch.ts'

const INITIAL_BYTES = 2048
const TEXT = 0
const BINARY = 1

/** Encodes protocol messages into one buffer, so that they are sent with one write. */
export class WireMessages {
  #buffer = Buffer.allocUnsafe(INITIAL_BYTES)
  #length = 0

  parse(name: string, text: string): void {
    const start = this.#begin('P')
    this.#text(name)
    this.#text(text)
    this.#int16(0)
    this.#end(start)
  }

  /** Binds parameters to the unnamed portal. */
  bind(statement: string, values: readonly Parameter[]): void {
    const start = this.#begin('B')
    this.#text('')
    this.#text(statement)
    this.#int16(values.length)
    for (const value of values) this.#int16(isBinary(value) ? BINARY : TEXT)
    this.#int16(values.length)
    for (const value of values) this.#value(value)
    this.#int16(0)
    this.#end(start)
  }

  describe(): void {
    const start = this.#begin('D')
    this.#text('P')
    this.#end(start)
  }

  execute(): void {
    const start = this.#begin('E')
    this.#text('')
    this.#int32(0)
    this.#end(start)
  }

  /** Closes a prepared statement, if there is one of that name. */
  close(statement: string): void {
    const start = this.#begin('C')
    this.#text(`S${statement}`)
    this.#end(start)
  }

  sync(): void {
    this.#end(this.#begin('S'))
  }

  /** The encoded messages. Nothing may be added afterwards. */
  toBuffer(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  #value(value: Parameter): void {
    if (value === null) this.#int32(-1)
    else if (typeof value === 'string') this.#sized(value)
    else if (typeof value === 'number') this.#sized(String(value))
    else this.#bytes(value instanceof ColumnArray ? value.bytes : value)
  }

  #sized(text: string): void {
    const most = text.length * 3
    this.#reserve(4 + most)
    const length = this.#buffer.write(text, this.#length + 4)
    this.#buffer.writeInt32BE(length, this.#length)
    this.#length += 4 + length
  }

  #bytes(bytes: Uint8Array): void {
    this.#int32(bytes.length)
    this.#reserve(bytes.length)
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
  }

  #begin(type: string): number {
    this.#reserve(5)
    this.#buffer[this.#length] = type.charCodeAt(0)
    const start = this.#length + 1
    this.#length += 5
    return start
  }

  #end(start: number): void {
    this.#buffer.writeInt32BE(this.#length - start, start)
  }

  #text(text: string): void {
    this.#reserve(text.length * 3 + 1)
    this.#length += this.#buffer.write(text, this.#length)
    this.#buffer[this.#length++] = 0
  }

  #int16(value: number): void {
    this.#reserve(2)
    this.#length = this.#buffer.writeUInt16BE(value, this.#length)
  }

  #int32(value: number): void {
    this.#reserve(4)
    this.#length = this.#buffer.writeInt32BE(value, this.#length)
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}

function isBinary(value: Parameter): boolean {
  return value instanceof Uint8Array || value instanceof ColumnArray
}
