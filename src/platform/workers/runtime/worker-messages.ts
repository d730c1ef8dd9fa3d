/** Resource limits of one job in a worker process. */
export interface WorkerLimits {
  /** CPU time after all input has arrived. Not wall-clock time, so that a busy machine does not fail valid files. */
  readonly workMs: number
  /** Wall-clock time for the work, and for each chunk of the input. */
  readonly timeoutMs: number
  /** Maximum size of the JavaScript heap. */
  readonly heapBytes: number
  /** Maximum resident memory of the process, including buffers, native memory and code. */
  readonly processBytes: number
}

/** Kinds of frames to a worker: start of a job, bytes of its input, end of the input. */
export const TO_WORKER = { begin: 1, bytes: 2, end: 3 } as const

/** Kinds of frames from a worker: it has started, or the job is done. */
export const FROM_WORKER = { ready: 1, done: 2 } as const

/** Payload of `begin`, as JSON. */
export interface JobStart<Task> {
  readonly task: Task
  readonly limits: WorkerLimits
}

/** Payload of `end`, as JSON. `cut`: the input was truncated. */
export interface JobEnd {
  readonly cut: boolean
}

/** Payload of `done`. `recycle`: the process has grown and should be replaced. */
export interface JobDone<Result> {
  readonly result: Result
  readonly recycle: boolean
}

/** The exit code of a worker that the kernel refused to confine, at its start or when its first job began. */
export const EXIT_UNSEALED = 3

/** A value as JSON, and behind it the bytes of its byte arrays, which the JSON has as `{ $bytes: [offset, length] }`. */
export function encodeMessage(value: unknown): Buffer {
  const parts: Uint8Array[] = []
  let bytes = 0
  const json = JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, key, found: unknown) {
    // `found` is what the `toJSON` of a Buffer returned.
    const original = this[key]
    if (!(original instanceof Uint8Array)) return found
    parts.push(original)
    bytes += original.length
    return { $bytes: [bytes - original.length, original.length] }
  })
  const text = Buffer.from(json)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(text.length)
  return Buffer.concat([length, text, ...parts])
}

/** Reads a message that may be anything. `parse` is the parser of its JSON, and may throw. Byte arrays are Buffers within `message`. */
export function decodeMessage(message: Buffer, parse: (json: Buffer) => unknown): unknown {
  if (message.length < 4) throw new Error('The message has no length.')
  const end = 4 + message.readUInt32BE(0)
  if (end > message.length) throw new Error('The message is cut off.')
  const parts = message.subarray(end)
  return withBytes(parse(message.subarray(4, end)), parts)
}

function withBytes(value: unknown, parts: Buffer): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => withBytes(item, parts))
  if ('$bytes' in value) return bytesAt(value.$bytes, parts)
  // Own properties, so that a `__proto__` of the sender does not become one.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withBytes(item, parts)]))
}

function bytesAt(place: unknown, parts: Buffer): Buffer {
  const [offset, length] = Array.isArray(place) ? (place as unknown[]) : []
  const isWithin =
    Number.isSafeInteger(offset) &&
    Number.isSafeInteger(length) &&
    Number(offset) >= 0 &&
    Number(length) >= 0 &&
    Number(offset) + Number(length) <= parts.length
  if (!isWithin) throw new Error('The bytes are not in the message.')
  return parts.subarray(Number(offset), Number(offset) + Number(length))
}
