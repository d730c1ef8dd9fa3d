import { readFileSync } from 'node:fs'
import path from 'node:path'
import { malformed } from './parsers.ts'
import { allSettings, type Definition, definitions, kebab, type Values, variable } from './settings.ts'

/** The operator's settings cannot be used; the message is one sentence that says what to do. */
export class ConfigError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ConfigError'
  }
}

export interface ConfigSources {
  env?: Readonly<Record<string, string | undefined>>
  /** Flags as given, by name: `public-url`, or `publicUrl` as commander spells it. */
  flags?: Readonly<Record<string, unknown>>
  cwd?: string
}

interface SettingsRead {
  values: Values
  dataDirectory: string
  /** Sentences for the operator about settings of earlier releases. */
  notices: readonly string[]
}

/** Reads flags, environment and `carrel.json`, in that order of precedence. Throws ConfigError. */
export function readSettings(sources: ConfigSources): SettingsRead {
  const { env = process.env, flags = {}, cwd = process.cwd() } = sources
  const given = [fromFlags(flags), fromEnvironment(env)]
  const dataDirectory = path.resolve(cwd, valueOf('data', definitions.data, given))
  given.push(fromFile(path.join(dataDirectory, 'carrel.json')))
  const entries = Object.entries(definitions).map(([key, definition]) => [
    key,
    valueOf<unknown>(kebab(key), definition, given),
  ])
  const notices = given.flatMap((source) => [...source.values()].flatMap(({ notice }) => notice ?? []))
  return { values: Object.fromEntries(entries) as Values, dataDirectory, notices }
}

/** The settings of one source, by name: the text, and how the operator refers to it. A removed setting has no text. */
type Given = Map<string, { text?: string; where: string; notice?: string | undefined }>

const find = (matches: (setting: (typeof allSettings)[number]) => boolean) => allSettings.find(matches)

/** A setting that a source gives. */
function entry({ internal, replaced }: (typeof allSettings)[number], text: string, where: string) {
  if (internal) return { where, notice: `${where} is ignored: it is not a setting any more. Remove it.` }
  return {
    text,
    where,
    notice: replaced === undefined ? undefined : `${where} still works, but is replaced by ${replaced}.`,
  }
}

function valueOf<T>(name: string, definition: Definition<T>, given: readonly Given[]): T {
  const found = given.map((source) => source.get(name)).find((value) => value?.text !== undefined)
  if (found?.text === undefined) return definition.fallback
  const value = found.text === '' ? malformed : definition.parse(found.text)
  if (value !== malformed) return value
  const shown = definition.secret || found.text === '' ? '' : `, not ${JSON.stringify(found.text)}`
  throw new ConfigError(`Set ${found.where} to ${definition.expects}${shown}.`)
}

function fromFlags(flags: Readonly<Record<string, unknown>>): Given {
  const given: Given = new Map()
  for (const [key, value] of Object.entries(flags)) {
    const setting = find(({ name }) => name === kebab(key))
    if (setting === undefined) {
      throw new ConfigError(`Leave out --${kebab(key)}: there is no such flag (see carrel serve --help).`)
    }
    if (value === undefined) continue
    const text = asText(value)
    if (text === undefined) throw new ConfigError(`Give ${setting.flag} one value.`)
    given.set(setting.name, entry(setting, text, setting.flag))
  }
  return given
}

function fromEnvironment(env: Readonly<Record<string, string | undefined>>): Given {
  const given: Given = new Map()
  for (const [key, text] of Object.entries(env)) {
    if (!key.startsWith('CARREL_')) continue
    const internal = find((candidate) => candidate.internal && candidate.env === key)
    if (internal !== undefined && text !== undefined && text !== '') {
      given.set(internal.name, { text, where: key })
    }
    // Not settings of the server: the test run talks to its own children under one prefix, and the client has the other.
    if (/^CARREL_(?:TEST|CLIENT)_/.test(key)) continue
    const setting = find(({ name }) => variable(name) === key)
    if (setting === undefined) {
      throw new ConfigError(
        `Unset ${key} or correct its name: there is no such setting (see carrel serve --help).`,
      )
    }
    // An empty variable is how service files and compose files say "not set".
    if (text === undefined || text === '') continue
    const value = entry(setting, text, key)
    // What a test sets is not undone by the former name.
    if (value.text !== undefined || !given.has(setting.name)) given.set(setting.name, value)
  }
  return given
}

function fromFile(file: string): Given {
  const given: Given = new Map()
  for (const [key, value] of Object.entries(readJsonObject(file))) {
    const setting = find(({ name }) => name === key || variable(name) === key)
    const quoted = JSON.stringify(key)
    if (setting === undefined) {
      throw new ConfigError(`Remove ${quoted} from ${file} or correct its name: there is no such setting.`)
    }
    if (setting.name === 'data') {
      throw new ConfigError(`Remove ${quoted} from ${file}: the file is found by that folder, so use --data.`)
    }
    if (given.has(setting.name)) {
      throw new ConfigError(
        `Remove "${setting.name}" or "${variable(setting.name)}" from ${file}: they are one setting.`,
      )
    }
    const text = asText(value)
    if (text === undefined) {
      throw new ConfigError(`Write ${quoted} in ${file} as text, a number, or true or false.`)
    }
    given.set(setting.name, entry(setting, text, `${quoted} in ${file}`))
  }
  return given
}

function readJsonObject(file: string): object {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return {}
    if (cause instanceof SyntaxError)
      throw new ConfigError(`Correct ${file}: it is not valid JSON.`, { cause })
    throw new ConfigError(`Make ${file} readable for this account (${String(code)}).`, { cause })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new ConfigError(`Correct ${file}: it must hold one JSON object.`)
}

function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(',')
  return undefined
}
