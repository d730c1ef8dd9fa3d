import type { Command } from 'commander'
import { parsePath } from '../../base/paths/index.ts'
import type { Explanation } from '../../sharing/access/index.ts'
import { CommandError } from './command-error.ts'
import { configFrom, withSettings } from './config-flags.ts'
import { columns, print } from './output.ts'

interface WhyOptions {
  json?: true
  data?: string
  database?: string
}

/** Adds `carrel access why`, which reads the database, with or without a server running. */
export function addAccessCommands(program: Command): void {
  const access = program.command('access').description('see who may do what')
  withSettings(
    access
      .command('why')
      .description('say why a user may, or may not, read and write at a path')
      .argument('<user>', 'the id of the account')
      .argument('<library>', 'the id of a library, or of a shared folder')
      .argument('<path>', 'a file or folder in it, / for all of it'),
    ['data', 'database'],
  )
    .option('--json', 'print one JSON document')
    .action(why)
}

async function why(email: string, library: string, text: string, options: WhyOptions): Promise<void> {
  const path = parsePath(text)
  if (path === undefined)
    throw new CommandError(`${text} is no path in a library: write it like /folder/file.`)
  const config = configFrom(options)
  const { explainOffline } = await import('./explain-offline.ts')
  const found = await explainOffline(config, email, library, path)
  print(options.json === true, documentOf(found), linesOf(found))
}

function documentOf(found: Explanation) {
  const { grants, permission, openAs, ...rest } = found
  return {
    ...rest,
    permission: permission ?? null,
    openAs: openAs ?? null,
    grants: grants.map(({ grantee, group, path, permission: given, isAdmin, reaches, decides }) => ({
      grantee,
      ...(group && { group: group.name }),
      path,
      permission: given,
      isAdmin,
      reaches,
      decides,
    })),
  }
}

function linesOf(found: Explanation): string[] {
  const right =
    found.permission === undefined ? 'none' : found.isAdmin ? 'rw, and manages shares' : found.permission
  const lines = [`${found.email} at ${found.path} of ${found.libraryName}: ${right}`, found.reason]
  if (found.openAs !== undefined && found.openAs !== found.libraryId) {
    lines.push(`The folder is the library ${found.openAs} to them.`)
  }
  if (found.grants.length === 0) return lines
  const rows = found.grants.map((grant) => [
    grant.decides ? '*' : '',
    grant.group === undefined ? grant.grantee : `group ${grant.group.name}`,
    grant.path,
    grant.isAdmin ? 'admin' : grant.permission,
    grant.decides ? 'decides' : grant.reaches ? 'another goes before it' : 'does not reach the path',
  ])
  return [...lines, '', ...columns([['', 'SHARED WITH', 'FOLDER', 'RIGHT', ''], ...rows])]
}
