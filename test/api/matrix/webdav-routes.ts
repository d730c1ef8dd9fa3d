import { DavClient, LOCK } from '../../webdav/dav-client.ts'
import { open, type Policy, type Sent, type Table, under } from './policy.ts'
import type { Stage } from './stage.ts'

/** Accounts by their password. Whoever may not read the library does not learn that it exists. */
const reads: Policy = {
  wrongPassword: 'unauthorised',
  anonymous: 'unauthorised',
  deactivated: 'unauthorised',
  stranger: 'absent',
  folderReader: 'absent',
  administrator: 'absent',
  reader: 'ok',
  groupMember: 'ok',
  writer: 'ok',
  manager: 'ok',
  owner: 'ok',
}
const writes: Policy = { ...reads, reader: 'denied', groupMember: 'denied' }

const PASSWORD = 'a long password'
const ADMIN_PASSWORD = 'correct horse battery'

function passwordOf(stage: Stage, caller: string): string {
  if (caller === 'wrongPassword') return 'another password'
  return stage.webdavPassword ?? (caller === 'administrator' ? ADMIN_PASSWORD : PASSWORD)
}

function named(stage: Stage, caller: string): string {
  return (stage.asker ?? stage.client(caller === 'wrongPassword' ? 'owner' : caller)).email
}

/** A call at a path of the library. */
const at = (below: string, { to, ...more }: Omit<Sent, 'below'> & { to?: string } = {}) => {
  return (stage: Stage, caller: string): Sent => {
    const credentials = Buffer.from(`${named(stage, caller)}:${passwordOf(stage, caller)}`).toString('base64')
    const headers: Record<string, string> = {
      ...(caller !== 'anonymous' && { Authorization: `Basic ${credentials}` }),
      ...(to !== undefined && { Destination: `/dav/${stage.name}${to}` }),
    }
    const as = stage.cast.callers.anonymous
    return { ...more, as, below: `${stage.name}${below}`, headers: { ...more.headers, ...headers } }
  }
}

const PATCH =
  '<propertyupdate xmlns="DAV:"><set><prop><color xmlns="urn:x">red</color></prop></set></propertyupdate>'

/** The token of a lock that the caller has; of none if the caller may not lock. */
async function unlocking(prefix: string, stage: Stage, caller: string): Promise<Sent> {
  const isPermitted = writes[caller] === 'ok'
  const dav = new DavClient(stage.owner.url, named(stage, caller), passwordOf(stage, caller))
  const token = isPermitted ? await dav.lock(`${prefix}${stage.name}/in.txt`) : '<urn:none>'
  return at('/in.txt', { headers: { 'Lock-Token': token } })(stage, caller)
}

const routesAt = (prefix: string): Table => ({
  ...under(open, { [`OPTIONS ${prefix}`]: {} }),
  ...under(reads, {
    [`GET ${prefix}`]: at('/in.txt'),
    [`PROPFIND ${prefix}`]: at('/', { headers: { Depth: '1' } }),
  }),
  ...under(writes, {
    [`PUT ${prefix}`]: at('/put.txt', { raw: 'put' }),
    [`MKCOL ${prefix}`]: at('/made'),
    [`DELETE ${prefix}`]: at('/in.txt'),
    [`COPY ${prefix}`]: at('/in.txt', { to: '/copied.txt' }),
    [`MOVE ${prefix}`]: at('/in.txt', { to: '/moved.txt' }),
    [`PROPPATCH ${prefix}`]: at('/in.txt', { raw: PATCH }),
    [`LOCK ${prefix}`]: at('/in.txt', { raw: LOCK }),
    [`UNLOCK ${prefix}`]: (stage, caller) => unlocking(prefix, stage, caller),
  }),
})

/** The calls of WebDAV clients. */
export const webdavRoutes: Table = { ...routesAt('/dav/'), ...routesAt('/seafdav/') }
