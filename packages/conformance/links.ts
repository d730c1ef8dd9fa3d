import { bodyOf, type Stage } from './stage.ts'

export const linkKinds = ['download', 'upload'] as const
export type LinkKind = (typeof linkKinds)[number]

/** A new library with a link to a folder, or to a file if one is named. */
export async function madeLink(stage: Stage, kind: LinkKind, path = '/docs') {
  const repo_id = await stage.library({ '/docs/a.txt': 'hello' })
  const calls = kind === 'download' ? 'share-links' : 'upload-links'
  const { token } = bodyOf(await stage.user.post(`/api/v2.1/${calls}/`, { form: { repo_id, path } }))
  return { library: repo_id, token: token as string }
}

/** The one record of the deprecated listing of a library that has a link. */
export async function linkRecord(stage: Stage, kind: LinkKind, path?: string) {
  const { library } = await madeLink(stage, kind, path)
  const [record] = bodyOf(await stage.user.get(`/api2/repos/${library}/${kind}-shared-links/`))
  return record
}
