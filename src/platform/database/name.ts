import type { DatabaseSetting } from './open.ts'

/** Names a database by its hosts and its name, so that it is recognized and can be shown. Without user and password. */
export function nameOfDatabase(database: DatabaseSetting): string {
  if (database.kind === 'sqlite') return 'sqlite'
  // With several hosts it is not a URL that can be parsed.
  const [, hosts = '', rest = ''] = /^\w+:\/\/(?:[^@/?#]*@)?([^/?#]*)(.*)$/s.exec(database.url) ?? []
  const { pathname, searchParams } = new URL(`postgres://host${rest}`)
  return `postgres ${searchParams.get('host') ?? ''}${hosts}${pathname}`
}
