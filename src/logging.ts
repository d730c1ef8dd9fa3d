import { fstatSync, write, writeSync } from 'node:fs'
import { styleText } from 'node:util'
import pino from 'pino'

/** What every room logs through. A room's own logger is `logger.child({ room: 'http' })`. */
export type Logger = pino.Logger

export interface LoggerOptions {
  /** Short lines for people instead of JSON: for terminals. */
  pretty: boolean
  /** Where lines go; standard output unless given. */
  destination?: { write(line: string): unknown }
}

/** The logger of the whole process, from which each room gets its own with `child`. */
export function createLogger(level: pino.LevelWithSilent, options: LoggerOptions): Logger {
  const { pretty, destination = pretty ? process.stdout : (heldLines ??= new HeldLines()) } = options
  const lines = pretty ? { write: (line: string) => destination.write(prettyLine(line)) } : destination
  const logger = pino(
    {
      level,
      base: base(),
      timestamp: timeField,
      formatters: { level: (label) => ({ level: label }), log: (fields) => withoutSecrets(fields, DEEPEST) },
    },
    lines,
  )
  // Children find it, too: a logger is the prototype of its children.
  Object.defineProperty(logger, destinationOf, { value: lines })
  // What a child is given is written with each of its lines, past the formatter. Children inherit this.
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its logger
  const { child } = logger
  logger.child = function childWithoutSecrets(this: Logger, bindings: pino.Bindings, childOptions?: object) {
    return child.call(this, withoutSecrets(bindings, DEEPEST), childOptions)
  } as typeof logger.child
  return logger
}

/** What every line of this process says. */
const base = () => ({ pid: process.pid })

/** Where lines of a logger and its children go. */
const destinationOf: unique symbol = Symbol('destination')

type Destination = { write(line: string): unknown; lastLevel?: number }

/**
 * Writes lines as `logger.info(fields, msg)` does, whose fields come as the members of a JSON object and hold no secrets:
 * a server writes one for each request, and this takes a quarter of the time.
 */
export function lineWriter(logger: Logger, msg: string): (members: string) => void {
  const { [destinationOf]: destination } = logger as Logger & { [destinationOf]?: Destination }
  // A logger of somebody else's making.
  if (destination === undefined) return (members) => logger.info(JSON.parse(`{${members}}`), msg)
  const bindings = JSON.stringify({ ...base(), ...logger.bindings() }).slice(1, -1)
  const end = `,"msg":${JSON.stringify(msg)}}\n`
  return (members) => {
    if (destination.lastLevel !== undefined) destination.lastLevel = INFO
    destination.write(`{"level":"info"${timeField()},${bindings},${members}${end}`)
  }
}

/** One for all loggers: there is one standard output, and one end of the process. */
let heldLines: HeldLines | undefined

let second = 0
let secondText = ''

/** The time as pino wants it, `,"time":"2026-01-31T12:04:05.678Z"`; all but the last digits are made once a second. */
function timeField(): string {
  const now = Date.now()
  const ms = now % 1000
  if (now - ms !== second) {
    second = now - ms
    secondText = new Date(second).toISOString().slice(0, 20)
  }
  return `,"time":"${secondText}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z"`
}

const STDOUT = 1
const MOST_HELD_CHARACTERS = 8 * 2 ** 20
const ENOUGH_CHARACTERS = 32 * 1024
/** So much reaches a pipe in one piece, whoever else writes to it. What is none takes more at once. */
const BYTES_A_PIPE_TAKES_WHOLE = 4096
const HELD_MS = 50
/** How long a reader who stalls is waited for: until the next try, and at the end of the process in all. */
const RETRY_MS = 100
const LAST_WORDS_MS = 1000
/** How long the end of the process waits for lines that another thread is writing. */
const UNDER_WAY_MS = 20
/** As pino numbers it; what is above is unusual. */
const INFO = 30
/** Has pino say the level of each line in `lastLevel` before it is written. */
const saysLevel: unique symbol = Symbol.for('pino.metadata')

/**
 * Standard output. Lines that tell of nothing unusual wait a moment for others: a write takes as long as all else
 * about a line. Writing is asynchronous, so that a reader of our output who stalls does not stop the event loop
 * (I10). What is still held is written out when the process ends, which no reader keeps it from; lines beyond the
 * bound are dropped (I9).
 */
class HeldLines {
  readonly [saysLevel] = true
  lastLevel = 0
  readonly #bytesAWrite = isPipe() ? BYTES_A_PIPE_TAKES_WHOLE : ENOUGH_CHARACTERS
  #held = ''
  /** What is left of the bytes being written. */
  #rest: Buffer = Buffer.alloc(0)
  /** How many of them another thread is writing. */
  #underWay = 0
  #isBroken = false
  #timer: NodeJS.Timeout | undefined

  constructor() {
    process.once('exit', () => this.#writeLast())
  }

  write(line: string): void {
    if (this.#isBroken || this.#held.length + line.length > MOST_HELD_CHARACTERS) return
    this.#held += line
    if (this.#held.length >= ENOUGH_CHARACTERS || this.lastLevel > INFO) this.#flush()
    else this.#timer ??= setTimeout(this.#flush, HELD_MS).unref()
  }

  readonly #flush = (): void => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#underWay > 0) return
    if (this.#rest.length === 0) this.#takeHeld()
    if (this.#rest.length === 0) return
    this.#underWay = endOfLines(this.#rest, this.#bytesAWrite)
    write(STDOUT, this.#rest.subarray(0, this.#underWay), (error, written) => this.#onWritten(error, written))
  }

  #takeHeld(): void {
    this.#rest = Buffer.from(this.#held)
    this.#held = ''
  }

  #onWritten(error: NodeJS.ErrnoException | null, written: number): void {
    this.#underWay = 0
    if (error === null) {
      this.#rest = this.#rest.subarray(written)
      if (this.#rest.length > 0 || this.#held !== '') this.#flush()
    } else if (error.code === 'EAGAIN') this.#timer ??= setTimeout(this.#flush, RETRY_MS).unref()
    else this.#giveUp()
  }

  /** The reader is gone, and nobody is left to be told. */
  #giveUp(): void {
    this.#isBroken = true
    this.#held = ''
    this.#rest = Buffer.alloc(0)
  }

  #writeLast(): void {
    const deadline = performance.now() + LAST_WORDS_MS
    // What another thread is writing is not written twice. It is whole lines, should it come later nevertheless.
    if (this.#underWay > 0) pause(UNDER_WAY_MS)
    this.#rest = this.#rest.subarray(this.#underWay)
    while (this.#rest.length > 0 || this.#held !== '') {
      if (this.#rest.length === 0) this.#takeHeld()
      try {
        this.#rest = this.#rest.subarray(writeSync(STDOUT, this.#rest))
      } catch (error) {
        const isStalled = error instanceof Error && 'code' in error && error.code === 'EAGAIN'
        if (!isStalled || performance.now() > deadline) return
        pause(10)
      }
    }
  }
}

function isPipe(): boolean {
  try {
    return fstatSync(STDOUT).isFIFO()
  } catch {
    return false
  }
}

/** Where the last line ends that is whole in the bytes of one write; the first one's end if it is longer than that. */
function endOfLines(bytes: Buffer, mostBytes: number): number {
  if (bytes.length <= mostBytes) return bytes.length
  const last = bytes.lastIndexOf('\n', mostBytes - 1)
  return (last === -1 ? bytes.indexOf('\n') : last) + 1 || bytes.length
}

/** Holds up this thread, which has nothing else left to do. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

// No room should log these in the first place; this is the net below. Pino's own redaction takes 50 µs a
// line with paths into nested objects; this walk takes less than one for the flat lines of the request log.
const secretFields: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'password',
  'passwd',
  'token',
  'apiToken',
  'syncToken',
  'ticket',
  'secret',
])
const DEEPEST = 4

function withoutSecrets(fields: Record<string, unknown>, depth: number): Record<string, unknown> {
  let clean = fields
  for (const name in fields) {
    const value = fields[name]
    const shown = secretFields.has(name)
      ? '[secret]'
      : depth > 1 && isPlain(value)
        ? withoutSecrets(value, depth - 1)
        : value
    if (shown === value) continue
    if (clean === fields) clean = { ...fields }
    clean[name] = shown
  }
  return clean
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Error) && !Array.isArray(value)
}

const colours = { warn: 'yellow', error: 'red', fatal: 'red' } as const

/** One JSON line as `12:04:05 info  http  listening port=8000`, with an error's stack below it. */
export function prettyLine(line: string): string {
  const { level, time, pid: _pid, room, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>
  const label = String(level)
  const colour = label in colours ? colours[label as keyof typeof colours] : undefined
  const paddedLabel = label.padEnd(5)
  const words = [
    String(time).slice(11, 19),
    colour === undefined ? paddedLabel : styleText(colour, paddedLabel, { stream: process.stdout }),
    ...(typeof room === 'string' ? [room.padEnd(8)] : []),
    ...(typeof msg === 'string' ? [msg] : []),
    ...Object.entries(fields).map(([key, value]) => `${key}=${fieldText(value)}`),
  ]
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? `\n${String(err.stack)}` : ''
  return `${words.join(' ')}${stack}\n`
}

function fieldText(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
}
