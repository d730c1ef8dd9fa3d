import { ExternalLink, Trash2 } from 'lucide-react'
import { useState } from 'react'
import {
  deleteLibraryLink,
  type LinkItem,
  type LinkKind,
  type LinkPlace,
  useAccount,
  useLibraryLinks,
} from '../api/index.ts'
import { normalizePath } from '../paths.ts'
import { useTexts } from '../texts/index.ts'
import { Avatar, ConfirmDialog, IconButton, useAction } from '../ui/index.ts'

/** Links of others to a folder or its contents. Managers of the library can delete them. */
export function OthersLinks(props: { kind: LinkKind; place: LinkPlace }) {
  const { kind, place } = props
  const texts = useTexts('sharing')
  const { data: account } = useAccount()
  const { data } = useLibraryLinks(kind, place.libraryId)
  const others = (data ?? []).filter(
    ({ username, path }) => username !== account?.email && isBelow(normalizePath(path), place.path),
  )
  if (others.length === 0) return null
  return (
    <>
      <h3>{texts.othersLinks}</h3>
      <ul className="sharing-rows">
        {others.map((link) => (
          <Row key={link.token} kind={kind} link={link} />
        ))}
      </ul>
    </>
  )
}

const isBelow = (path: string, folder: string) =>
  folder === '/' || path === folder || path.startsWith(`${folder}/`)

function Row(props: { kind: LinkKind; link: LinkItem }) {
  const { kind, link } = props
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const act = useAction('links', 'shares')
  const [deleting, setDeleting] = useState(false)
  return (
    <li className="sharing-row">
      <Avatar email={link.username} size={30} />
      <span className="sharing-names">
        <bdi title={link.path}>{link.path}</bdi>
        <span className="muted">
          <bdi>{link.username}</bdi> · {texts.views(link.view_cnt)}
        </span>
      </span>
      <a
        className="icon-button"
        href={link.link}
        target="_blank"
        rel="noopener noreferrer"
        title={common.open}
        aria-label={texts.openLinkTo(link.path)}
      >
        <ExternalLink size={18} aria-hidden />
      </a>
      <IconButton label={texts.deleteLinkTo(link.path)} icon={Trash2} onClick={() => setDeleting(true)} />
      {deleting && (
        <ConfirmDialog
          title={texts.deleteLink}
          text={texts.deleteLinkHint}
          submit={common.delete}
          onConfirm={() => act(() => deleteLibraryLink(kind, link.repo_id, link.token), texts.linkDeleted)}
          onClose={() => setDeleting(false)}
        />
      )}
    </li>
  )
}
