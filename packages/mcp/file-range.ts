/** Part of a file as the caller gets it. */
interface RangeContent {
  readonly encoding: 'text' | 'base64'
  readonly content: string
  /** Bytes of the range before and after the content: parts of characters at its ends. */
  readonly skipped: number
  readonly left: number
}

/**
 * The bytes of a range as text if they are UTF-8 without zero bytes, otherwise as base64. A character that is cut by an end of the range is left out, except at the
 * ends of the file.
 */
export function contentOf(
  bytes: Uint8Array,
  { isStart, isEnd }: { readonly isStart: boolean; readonly isEnd: boolean },
): RangeContent {
  const skipped = isStart ? 0 : continuationBytes(bytes)
  const left = isEnd ? 0 : cutBytes(bytes)
  const text = decoded(bytes.subarray(skipped, bytes.length - left))
  if (text !== undefined) return { encoding: 'text', content: text, skipped, left }
  return base64Of(bytes)
}

export function base64Of(bytes: Uint8Array): RangeContent {
  return { encoding: 'base64', content: Buffer.from(bytes).toString('base64'), skipped: 0, left: 0 }
}

function decoded(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** Bytes at the start that belong to a character which starts before. */
function continuationBytes(bytes: Uint8Array): number {
  let count = 0
  while (count < 3 && isContinuation(bytes[count])) count += 1
  return count
}

/** Bytes at the end of a character that continues after them. */
function cutBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (isContinuation(byte)) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? back : 0
  }
  return 0
}

/** Reads a body of `length` bytes. A server that sends more is not read further. */
export async function readBytes(body: ReadableStream<Uint8Array>, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  let filled = 0
  for await (const chunk of body) {
    const part = chunk.subarray(0, length - filled)
    bytes.set(part, filled)
    filled += part.length
    if (filled === length) break
  }
  return bytes.subarray(0, filled)
}
