import type { Client } from '../../support/client.ts'
import { type Policy, type Sent, type Table, under } from './policy.ts'
import { LINK_PASSWORD, type LinkState, type Stage } from './stage.ts'

/** Visitors without an account, by their link and what they know. */
const visits: Policy = {
  openLink: 'ok',
  password: 'ok',
  granted: 'ok',
  withoutPassword: 'denied',
  wrongPassword: 'denied',
  expired: 'absent',
  switchedOff: 'absent',
  closed: 'ok',
  notNamed: 'denied',
  unknownLink: 'absent',
}
/** Upload links are for everybody. */
const { notNamed: _, ...uploads } = visits

/** Without the password the visitor gets the page that asks for it; nothing of the item is on it. */
const pages: Policy = { ...visits, withoutPassword: 'empty' }

type Kind = 'share' | 'upload'

/** What a visitor shows: the password, or the cookie that an earlier page set for it. */
export async function shown(
  stage: Stage,
  caller: string,
  token: string,
  kind: Kind = 'share',
): Promise<Record<string, string>> {
  if (caller === 'password') return { 'X-Link-Password': LINK_PASSWORD }
  if (caller === 'granted') return { Cookie: await stage.grant(token, kind) }
  return caller === 'wrongPassword' ? { 'X-Link-Password': 'a guess' } : {}
}

const visit = (more: Sent & { kind?: Kind; path?: string; as?: Client } = {}) => {
  const { kind = 'share', path = '/docs', ...sent } = more
  return async (stage: Stage, caller: string): Promise<Sent> => {
    const token = await stage.link(caller as LinkState, kind, path)
    return { ...sent, params: { token }, headers: await shown(stage, caller, token, kind) }
  }
}
const file = '/docs/in.txt'

/** A visitor with an account and a library to save into. */
const saved = (form: Sent['form']) => {
  return async (stage: Stage, caller: string): Promise<Sent> => {
    const { cast } = stage
    const as = caller === 'signedOut' ? cast.callers.anonymous : cast.callers.stranger
    const state = caller === 'signedOut' || caller === 'toForeign' ? 'openLink' : (caller as LinkState)
    const dst_repo_id = caller === 'toForeign' ? await othersLibrary(stage) : cast.foreign
    const token = await stage.link(state)
    return {
      as,
      params: { token },
      headers: await shown(stage, caller, token),
      form: { ...form, dst_repo_id, dst_parent_dir: '/' },
    }
  }
}
const saves: Policy = { ...visits, signedOut: 'unauthorised', toForeign: 'denied' }

function othersLibrary(stage: Stage): Promise<string> {
  return stage.once('of the leaver', () => stage.cast.callers.leaver.createLibrary('Others'))
}

const byToken = (sent: (token: string) => Sent) => {
  return async (stage: Stage, caller: string): Promise<Sent> => {
    const token = await stage.link(caller as LinkState)
    return { headers: await shown(stage, caller, token), ...sent(token) }
  }
}

const unlocking = (more: { kind?: Kind; path?: string; query?: Sent['query'] } = {}) => {
  const { kind = 'share', path = '/docs', query = {} } = more
  return async (stage: Stage, caller: string): Promise<Sent> => {
    const token = await stage.link(caller as LinkState, kind, path)
    const isRight = caller === 'password' || caller === 'granted'
    return { params: { token }, query, form: { password: isRight ? LINK_PASSWORD : 'a guess' } }
  }
}

/** The calls of link visitors. */
export const visitRoutes: Table = {
  ...under(visits, {
    'GET /api/v2.1/share-links/:token/dirents/': visit(),
    'GET /api/v2.1/share-links/:token/upload/': visit(),
    'GET /api/v2.1/share-link-zip-task/': byToken((token) => ({
      query: { share_link_token: token, path: '/' },
    })),
    'POST /api/v2.1/share-link-zip-task/': byToken((token) => ({
      form: { token, parent_dir: '/', dirents: 'in.txt' },
    })),
    'POST /d/:token/archive/': visit({ query: { p: '/' } }),
  }),
  ...under(pages, {
    'GET /f/:token/': visit({ path: file }),
    'GET /d/:token/': visit(),
    'GET /d/:token/files/': visit({ query: { p: '/in.txt' } }),
  }),
  ...under(
    { ...uploads, withoutPassword: 'empty', closed: 'denied' },
    {
      'GET /u/d/:token/': visit({ kind: 'upload' }),
    },
  ),
  ...under(
    { ...visits, expired: 400 },
    {
      'GET /seafhttp/f/:token/': visit({ path: file }),
    },
  ),
  ...under(
    { ...visits, expired: 'denied' },
    {
      'POST /api/v2.1/share-links/:token/upload/done/': visit({ form: { file_path: '/docs/in.txt' } }),
    },
  ),
  ...under(
    { ...uploads, closed: 'denied' },
    {
      'GET /api/v2.1/upload-links/:token/upload/': visit({ kind: 'upload' }),
      'POST /api/v2.1/upload-links/:token/upload/': visit({ kind: 'upload', form: { name: 'Ann' } }),
    },
  ),
  ...under(uploads, {
    'POST /u/d/:token/': unlocking({ kind: 'upload' }),
  }),
  ...under(visits, {
    'POST /f/:token/': unlocking({ path: file }),
    'POST /d/:token/': unlocking(),
    'POST /d/:token/files/': unlocking({ query: { p: '/in.txt' } }),
    'GET /d/:token/archive/': async (stage, caller) => {
      const token = await stage.link(caller as LinkState)
      const task = await stage.once(`archive ${caller}`, () => archiveOf(stage, token, caller))
      return { params: { token }, headers: await shown(stage, caller, token), query: { task } }
    },
  }),
  ...under(saves, {
    'POST /api/v2.1/share-links/:token/save-file-to-repo/': saved({ path: '/in.txt' }),
    'POST /api/v2.1/share-links/:token/save-items-to-repo/': saved({
      src_parent_dir: '/',
      src_dirents: 'in.txt',
    }),
  }),
}

async function archiveOf(stage: Stage, token: string, caller: string): Promise<string> {
  const made = await stage.cast.callers.anonymous.post(`/d/${token}/archive/`, {
    query: { p: '/' },
    headers: await shown(stage, caller, token),
  })
  return new URL(made.headers.get('location') ?? '?task=none', stage.owner.url).searchParams.get('task') ?? ''
}
