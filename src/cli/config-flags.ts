import type { Command } from 'commander'
import { type Config, readConfig, settings } from '../config/index.ts'

/** Adds a flag for each setting, or for each of those named. */
export function withSettings(command: Command, names?: readonly string[]): Command {
  for (const setting of settings) {
    if (names !== undefined && !names.includes(setting.name)) continue
    const flag = `${setting.flag} <${setting.placeholder}>`
    command.option(flag, `${setting.meaning} (${setting.env}; default: ${setting.default})`)
  }
  return command
}

/** The settings among the options of a command, with those of the environment and the file. Throws ConfigError. */
export function configFrom(options: object): Config {
  const names = new Set(
    settings.map(({ name }) => name.replace(/-./g, (pair) => pair.slice(1).toUpperCase())),
  )
  return readConfig({ flags: Object.fromEntries(Object.entries(options).filter(([key]) => names.has(key))) })
}
