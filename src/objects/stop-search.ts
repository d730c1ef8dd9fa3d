// The search for a stop, sixteen bytes at a time. In plain JavaScript it takes a third of the time of a long upload.
//
// A fingerprint is 32 bits and every step shifts it by eight, so it forgets all but the last four steps: with
// g(n) = byte(n) ^ leaving[byte(n - 48)] it is g(n) ^ g(n-1) << 8 ^ g(n-2) << 16 ^ g(n-3) << 24. No position has to wait
// for the one before. The two lowest bytes of a stop are compared here, for sixteen positions at once; a group that
// passes, one in four thousand, is looked at by the caller. `leaving` is linear, so sixteen values of half a
// byte each are all the table there is, which is what a vector can look up.

const PAGE = 65_536
const WINDOW = 48
/** A group also looks at the byte before its window. */
const BEFORE = WINDOW + 1
/** Positions that are looked at together. */
export const SEARCH_GROUP = 16

/** Bytes that can be searched at once. */
export const SEARCHED_AT_ONCE = PAGE - 64

/** Searches bytes for where the two lowest bytes of a fingerprint are those of a stop. */
export class StopSearch {
  readonly #memory: Uint8Array
  readonly #find: (at: number, end: number) => number

  /** `leaving` is what the byte leaving the window contributes; `stop` the two lowest bytes of a stop. */
  constructor(leaving: Int32Array, stop: number) {
    const instance = new WebAssembly.Instance(new WebAssembly.Module(moduleOf(leaving, stop)))
    const { memory, find } = instance.exports as Exports
    this.#memory = new Uint8Array(memory.buffer)
    this.#find = find
  }

  /**
   * The first position from `from` on where a group of sixteen begins that may hold a stop, or where fewer than
   * sixteen bytes are left before `end`. The bytes before `from` must be there too, 49 of them, and `end - from`
   * may be at most SEARCHED_AT_ONCE.
   */
  next(bytes: Uint8Array, from: number, end: number): number {
    this.#memory.set(bytes.subarray(from - BEFORE, end))
    return this.again(from, from, end)
  }

  /** As next, going on at `at` in the bytes that `next` was last given from `from` on. */
  again(at: number, from: number, end: number): number {
    const shift = BEFORE - from
    return this.#find(at + shift, end + shift) - shift
  }
}

// Node has it; the type definitions of Node do not.
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly find: (at: number, end: number) => number
}

const I32 = 0x7f
const V128 = 0x7b

/** The module: one page of memory, and find(at, end). */
function moduleOf(leaving: Int32Array, stop: number): Uint8Array<ArrayBuffer> {
  const section = (id: number, ...content: Code) => code(id, unsigned(code(...content).length), ...content)
  const text = (name: string) => code(name.length, [...Buffer.from(name)])
  const body = code(1, 1, V128, findCode(leaving, stop))
  return Uint8Array.from(
    code(
      [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      section(1, 1, 0x60, 2, I32, I32, 1, I32),
      section(3, 1, 0),
      section(5, 1, 1, 1, 1),
      section(7, 2, text('memory'), 2, 0, text('find'), 0, 0),
      section(10, 1, unsigned(body.length), body),
    ),
  )
}

/** Locals: 0 where the group begins, 1 the end, 2 the sixteen bytes that leave the window. */
function findCode(leaving: Int32Array, stop: number): number[] {
  const at = [0x20, 0]
  const end = [0x20, 1]
  const left = [0x20, 2]
  const vector = (opcode: number) => code(0xfd, unsigned(opcode))
  const xor = vector(0x51)
  const and = vector(0x4e)
  const equal = vector(0x23)
  const anyTrue = vector(0x53)
  const swizzle = vector(0x0e)
  const shiftRight = vector(0x6d)
  // Neither aligned nor offset.
  const loadBefore = (bytes: number) => code(at, 0x41, signed(bytes), 0x6b, vector(0x00), 0, 0)
  const splat = (byte: number) => code(0x41, signed(byte), vector(0x0f))
  /** What sixteen bytes contribute to one byte of their fingerprints. */
  const contribution = (bytes: readonly number[], shift: number) => {
    const half = (of: (value: number) => number) => {
      const values = Array.from({ length: 16 }, (_, value) => ((leaving[of(value)] ?? 0) >> shift) & 0xff)
      return code(vector(0x0c), values)
    }
    const low = code(
      half((value) => value),
      bytes,
      splat(0x0f),
      and,
      swizzle,
    )
    const high = code(
      half((value) => value << 4),
      bytes,
      [0x41, 4],
      shiftRight,
      swizzle,
    )
    return code(low, high, xor)
  }
  const keepLeft = code(loadBefore(WINDOW), 0x21, 2)
  const lowest = code(contribution(left, 0), loadBefore(0), xor, splat(stop & 0xff), equal)
  const second = code(
    code(contribution(left, 8), loadBefore(1), xor),
    code(contribution(loadBefore(BEFORE), 0), xor, splat((stop >> 8) & 0xff), equal),
  )
  const isShort = code(at, 0x41, SEARCH_GROUP, 0x6a, end, 0x4b)
  const when = (condition: readonly number[], then: readonly number[]) =>
    code(condition, 0x04, 0x40, then, 0x0b)
  const giveBack = code(at, 0x0f)
  return code(
    [0x03, 0x40], // loop
    when(isShort, giveBack),
    keepLeft,
    // Almost never both: the first is worked out again rather than kept.
    when(code(lowest, anyTrue), when(code(lowest, second, and, anyTrue), giveBack)),
    code(at, 0x41, SEARCH_GROUP, 0x6a, 0x21, 0),
    [0x0c, 0, 0x0b], // again
    at,
    0x0b,
  )
}

type Code = readonly (number | readonly number[])[]

function code(...parts: Code): number[] {
  return parts.flat()
}

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}

/** LEB128 for numbers from 0 to 8191. */
function signed(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, value >>> 7]
}
