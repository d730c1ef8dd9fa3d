import { type Command, Option } from 'commander'
import { allSettings, type Config, readConfig } from '../../base/config/index.ts'

/** Adds a flag for each setting, or for each of those named. */
export function withSettings(command: Command, names?: readonly string[]): Command {
  for (const setting of allSettings) {
    if (names !== undefined && !names.includes(setting.name)) continue
    const flag = `${setting.flag} <${setting.placeholder}>`
    const option = new Option(flag, `${setting.meaning} (${setting.env}; default: ${setting.default})`)
    // Flags of earlier releases are accepted. The server says in its log what became of them.
    command.addOption(option.hideHelp(setting.internal || setting.replaced !== undefined))
  }
  return command
}

/** The settings among the options of a command, with those of the environment and the file. Throws ConfigError. */
export function configFrom(options: object): Config {
  const names = new Set(
    allSettings.map(({ name }) => name.replace(/-./g, (pair) => pair.slice(1).toUpperCase())),
  )
  return readConfig({ flags: Object.fromEntries(Object.entries(options).filter(([key]) => names.has(key))) })
}
