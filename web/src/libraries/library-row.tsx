import { Book, BookLock, EllipsisVertical, Eye, Star } from 'lucide-react'
import { Link } from 'wouter'
import { canEdit, type LibraryItem } from '../api/index.ts'
import { folderUrl } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { ContextMenu, IconButton, Menu } from '../ui/index.ts'
import type { OpenDialog } from './library-dialogs.tsx'
import { useLibraryMenu } from './use-library-menu.ts'
import { useLibraryToggles } from './use-library-toggles.ts'

export function LibraryRow(props: { library: LibraryItem; onOpenDialog: (dialog: OpenDialog) => void }) {
  const { library } = props
  const texts = useTexts('libraries')
  const formats = useFormats()
  const { star } = useLibraryToggles()
  const entries = useLibraryMenu(library, props.onOpenDialog)
  const { repo_name: name, starred } = library
  const person = library.type === 'group' ? library.modifier_name : library.owner_name
  return (
    <ContextMenu entries={entries}>
      <tr className="libraries-row">
        <td className="libraries-star">
          <IconButton
            className={starred ? 'libraries-starred' : ''}
            icon={Star}
            label={starred ? texts.unstarOf(name) : texts.starOf(name)}
            title={starred ? texts.unstar : texts.star}
            onClick={() => void star(library, !starred)}
          />
        </td>
        <td className="libraries-name">
          <Link to={folderUrl(library.repo_id)} className="libraries-link" title={name}>
            <LibraryIcon encrypted={library.encrypted} />
            <span className="libraries-words">
              <span className="libraries-cell">
                <bdi className="libraries-title">{name}</bdi>
                <Badges library={library} />
              </span>
              <span className="libraries-meta muted">
                {[formats.size(library.size), formats.ago(library.last_modified)].join(' · ')}
                {library.type !== 'mine' && (
                  <>
                    {' · '}
                    <bdi>{person}</bdi>
                  </>
                )}
              </span>
            </span>
          </Link>
        </td>
        <td className="libraries-size">{formats.size(library.size)}</td>
        <td className="libraries-modified">
          <time dateTime={library.last_modified} title={formats.moment(library.last_modified)}>
            {formats.when(library.last_modified)}
          </time>
        </td>
        {library.type !== 'mine' && (
          <td className="libraries-owner" title={person}>
            <bdi>{person}</bdi>
          </td>
        )}
        <td className="libraries-menu">
          <Menu
            trigger={
              <IconButton icon={EllipsisVertical} label={texts.actionsOf(name)} title={texts.actions} />
            }
            entries={entries}
          />
        </td>
      </tr>
    </ContextMenu>
  )
}

export function LibraryIcon(props: { encrypted: boolean }) {
  const Icon = props.encrypted ? BookLock : Book
  return <Icon className="libraries-icon" size={22} strokeWidth={1.6} aria-hidden />
}

export function Badges(props: { library: LibraryItem }) {
  const { library } = props
  const texts = useTexts('libraries')
  return (
    <span className="libraries-badges">
      {library.encrypted && <span className="badge badge-accent">{texts.encrypted}</span>}
      {(library.status === 'read-only' || !canEdit(library)) && (
        <span className="badge">{texts.readOnly}</span>
      )}
      {library.monitored && (
        <span className="libraries-watched" title={texts.watchLabel}>
          <Eye size={15} aria-hidden />
          <span className="visually-hidden">{texts.watchLabel}</span>
        </span>
      )}
    </span>
  )
}
