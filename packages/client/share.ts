import { EXIT, usageError } from './client-error.ts'
import { requireRemote } from './remote-path.ts'
import { readSecret } from './secret-input.ts'
import { getEntry } from './select.ts'
import { type CommonOptions, runClient } from './session.ts'
import { columns, print, timeText } from './terminal.ts'

export interface ShareOptions extends CommonOptions {
  /** E-mail of a user to share with. */
  readonly with?: string
  /** Id of a group to share with. */
  readonly group?: string
  readonly permission: 'r' | 'rw'
  readonly link?: true
  readonly password?: true
  readonly days?: string
  /** End the share with `with` or `group`, or delete the link with this token. */
  readonly end?: true | string
}

/** Shares a file or folder, creates a link, or lists both. */
export function share(target: string, options: ShareOptions): Promise<number> {
  return runClient(options, async (session) => {
    const { carrel } = session
    const entry = await getEntry(session, requireRemote(target))
    const json = options.json === true
    const days = options.days === undefined ? {} : { days: Number(options.days) }
    if (Number.isNaN(days.days)) throw usageError('Give --days as a number.')
    const recipient = recipientOf(options)
    if (typeof options.end === 'string') {
      await carrel.deleteLink(options.end)
      print(json, { deleted: options.end }, ['Deleted the link.'])
    } else if (options.end) {
      if (recipient === undefined)
        throw usageError('Name whom with --with or --group, or a link by its token.')
      await carrel.unshare(entry.library, entry, recipient)
      print(json, { ended: recipient }, [`Ended the share with ${recipient.recipient}.`])
    } else if (recipient !== undefined) {
      const made = { ...recipient, permission: options.permission, ...days }
      await carrel.share(entry.library, entry, made)
      print(json, made, [`Shared ${target} with ${recipient.recipient} (${options.permission}).`])
    } else if (options.link) {
      const password = options.password ? { password: await readSecret('Password of the link') } : {}
      const link = await carrel.createLink(entry.library, entry.path, { ...password, ...days })
      print(json, link, [link.url])
    } else {
      const shares = await carrel.shares(entry.library, entry)
      const links = await carrel.links(entry.library, entry.path)
      print(json, { shares, links }, [
        ...columns(shares.map((one) => [one.to, one.permission, one.recipient])),
        ...columns(
          links.map((one) => ['link', one.expiresAt ? timeText(one.expiresAt) : '-', one.token, one.url]),
        ),
      ])
    }
    return EXIT.ok
  })
}

function recipientOf(options: ShareOptions): { to: 'user' | 'group'; recipient: string } | undefined {
  if (options.with !== undefined && options.group !== undefined) {
    throw usageError('Share with one user or one group at a time.')
  }
  if (options.with !== undefined) return { to: 'user', recipient: options.with }
  return options.group === undefined ? undefined : { to: 'group', recipient: options.group }
}
