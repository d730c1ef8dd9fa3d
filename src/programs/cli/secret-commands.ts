import type { Command } from 'commander'
import { configFrom, withSettings } from './config-flags.ts'

/** Adds `carrel secret rotate`, `carrel secret retire` and `carrel secret adopt`. */
export function addSecretCommands(program: Command): void {
  const secret = program.command('secret').description('replace the key that encrypts and signs')
  withSettings(
    secret
      .command('rotate')
      .description('make a new key, and keep the old one for what was encrypted and signed with it'),
    ['data', 'database', 'secret'],
  )
    .option('--json', 'print one JSON document')
    .action(async (options: { json?: true }) => {
      const config = configFrom(options)
      const { rotate } = await import('./secret.ts')
      await rotate(config, options.json === true)
    })
  withSettings(
    secret
      .command('retire')
      .description('encrypt with the current key what older keys encrypted, and delete the older keys'),
    ['data', 'database', 'secret'],
  )
    .option('--json', 'print one JSON document')
    .action(async (options: { json?: true }) => {
      const config = configFrom(options)
      const { retire } = await import('./secret.ts')
      await retire(config, options.json === true)
    })
  withSettings(
    secret
      .command('adopt')
      .description('use the key of this server for a PostgreSQL database whose key is lost'),
    ['data', 'database', 'secret'],
  )
    .option('--json', 'print one JSON document')
    .action(async (options: { json?: true }) => {
      const config = configFrom(options)
      const { adopt } = await import('./secret.ts')
      await adopt(config, options.json === true)
    })
}
