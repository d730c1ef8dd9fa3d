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
  const { pretty, destination = pretty ? process.stdout : buffered() } = options
  const logger = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => withoutSecrets(fields, DEEPEST) },
    },
    pretty ? { write: (line: string) => destination.write(prettyLine(line)) } : destination,
  )
  // What a child is given is written with each of its lines, past the formatter. Children inherit this.
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its logger
  const { child } = logger
  logger.child = function childWithoutSecrets(this: Logger, bindings: pino.Bindings, childOptions?: object) {
    return child.call(this, withoutSecrets(bindings, DEEPEST), childOptions)
  } as typeof logger.child
  return logger
}

// Writing is asynchronous, so that a reader of our output who stalls does not stop the event loop
// (I10). What is still held is written out when the process ends; lines beyond the bound are dropped (I9).
const MOST_HELD_BYTES = 8 * 2 ** 20
// Handing a line to a thread costs as much as a tenth of a small upload: what is said in quick succession goes together.
const GATHERED_BYTES = 4096
const GATHER_MS = 50
const WARN = pino.levels.values['warn'] ?? 0

/** Where lines go when nobody says otherwise: standard output, several at a time unless something is wrong. */
function buffered() {
  const output = pino.destination({
    dest: 1,
    sync: false,
    maxLength: MOST_HELD_BYTES,
    minLength: GATHERED_BYTES,
  })
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    output.flush()
  }
  return {
    // Pino then tells the level of each line.
    [pino.symbols.needsMetadataGsym]: true,
    lastLevel: 0,
    write(line: string) {
      output.write(line)
      if (this.lastLevel >= WARN) flush()
      else timer ??= setTimeout(flush, GATHER_MS).unref()
    },
  }
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
