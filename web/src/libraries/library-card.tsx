import { Book, BookLock, EllipsisVertical, Globe, Star, Users } from 'lucide-react'
import { type CSSProperties, useState } from 'react'
import { Link } from 'wouter'
import type { AccessSummary, LibraryItem, SharedOut } from '../api/index.ts'
import { folderUrl } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Avatar, Button, ContextMenu, hueOf, IconButton, Menu } from '../ui/index.ts'
import type { OpenDialog } from './library-dialogs.tsx'
import { Badges } from './library-row.tsx'
import { useLibraryMenu } from './use-library-menu.ts'
import { useLibraryToggles } from './use-library-toggles.ts'

/** Cards are rendered in steps, because each has its own menus and thousands would be slow. */
const CARDS_AT_ONCE = 120
const MAX_MEMBERS = 4

const NO_ACCESS: AccessSummary = { shares: 0, shares_inside: 0, links: 0 }

type Shares = ReadonlyMap<string, readonly SharedOut[]>

/** Libraries as cards: colour, name, members and last change. */
export function LibraryCards(props: {
  label: string
  libraries: readonly LibraryItem[]
  shares: Shares
  /** Undefined until it is known. */
  access: ReadonlyMap<string, AccessSummary> | undefined
  onOpenDialog: (dialog: OpenDialog) => void
}) {
  const common = useTexts('common')
  const [most, setMost] = useState(CARDS_AT_ONCE)
  return (
    <>
      <ul className="library-cards" aria-label={props.label}>
        {props.libraries.slice(0, most).map((library) => (
          <LibraryCard
            key={library.repo_id}
            library={library}
            shares={props.shares.get(library.repo_id) ?? []}
            access={props.access && (props.access.get(library.repo_id) ?? NO_ACCESS)}
            onOpenDialog={props.onOpenDialog}
          />
        ))}
      </ul>
      {props.libraries.length > most && (
        <Button onClick={() => setMost(most + CARDS_AT_ONCE)}>{common.loadMore}</Button>
      )}
    </>
  )
}

function LibraryCard(props: {
  library: LibraryItem
  shares: readonly SharedOut[]
  access: AccessSummary | undefined
  onOpenDialog: (dialog: OpenDialog) => void
}) {
  const { library } = props
  const texts = useTexts('libraries')
  const common = useTexts('common')
  const formats = useFormats()
  const { star } = useLibraryToggles()
  const entries = useLibraryMenu(library, props.onOpenDialog)
  const { repo_name: name, starred, modifier_name } = library
  const modifier = library.modifier_via_link ? common.visitor(modifier_name) : modifier_name
  const Icon = library.encrypted ? BookLock : Book
  return (
    <ContextMenu entries={entries}>
      <li className="card library-card" style={{ '--hue': hueOf(library.repo_id) } as CSSProperties}>
        <Link to={folderUrl(library.repo_id)} className="library-card-link" title={name}>
          <span className="library-card-cover">
            <Icon size={26} strokeWidth={1.6} aria-hidden />
          </span>
          <span className="library-card-words">
            <span className="libraries-cell">
              <bdi className="libraries-title">{name}</bdi>
              <Badges library={library} />
            </span>
            <span className="library-card-about muted">
              {formats.size(library.size)}
              {' · '}
              <time dateTime={library.last_modified} title={formats.moment(library.last_modified)}>
                {texts.changedBy(modifier, formats.ago(library.last_modified))}
              </time>
            </span>
          </span>
        </Link>
        <Members library={library} shares={props.shares} access={props.access} />
        <span className="library-card-actions">
          <IconButton
            className={starred ? 'libraries-starred' : ''}
            icon={Star}
            label={starred ? texts.unstarOf(name) : texts.starOf(name)}
            title={starred ? texts.unstar : texts.star}
            onClick={() => void star(library, !starred)}
          />
          <Menu
            trigger={
              <IconButton icon={EllipsisVertical} label={texts.actionsOf(name)} title={texts.actions} />
            }
            entries={entries}
          />
        </span>
      </li>
    </ContextMenu>
  )
}

/** Who can see the library besides the user: the owner of a shared one, else those it or a part of it is shared with. */
function Members(props: {
  library: LibraryItem
  shares: readonly SharedOut[]
  access: AccessSummary | undefined
}) {
  const { library, access } = props
  const texts = useTexts('libraries')
  if (library.type !== 'mine') {
    const name = library.type === 'group' ? (library.group_name ?? '') : library.owner_name
    return (
      <span className="library-card-members muted">
        {library.type === 'shared' ? (
          <Avatar email={library.owner_email} name={name} size={22} />
        ) : (
          <Sign isGroup={library.type === 'group'} />
        )}
        <bdi className="library-card-member">{library.type === 'public' ? texts.everyone : name}</bdi>
      </span>
    )
  }
  // Nothing is said of what is not known yet.
  if (access === undefined) return <span className="library-card-members muted" />
  const shares = access.shares === 0 ? [] : props.shares.filter(({ is_expired }) => !is_expired)
  const names = shares.map((share) => share.group_name ?? share.user_name ?? texts.everyone)
  const whole = access.shares === 1 && names[0] !== undefined ? names[0] : texts.sharedWith(access.shares)
  const parts = [
    ...(access.shares > 0 ? [whole] : []),
    ...(access.shares_inside > 0 ? [texts.partsShared(access.shares_inside)] : []),
    ...(access.links > 0 ? [texts.linksTo(access.links)] : []),
  ]
  if (parts.length === 0) return <span className="library-card-members muted">{texts.onlyYou}</span>
  return (
    <span className="library-card-members muted" title={[...names, ...parts.slice(1)].join(', ')}>
      <span className="library-card-faces">
        {shares.length === 0 && <Sign isGroup={access.links === 0} />}
        {shares
          .slice(0, MAX_MEMBERS)
          .map((share, index) =>
            share.share_type === 'personal' ? (
              <Avatar
                key={share.user_email}
                email={share.user_email ?? ''}
                name={share.user_name}
                size={22}
              />
            ) : (
              <Sign key={names[index]} isGroup={share.share_type === 'group'} />
            ),
          )}
      </span>
      <bdi className="library-card-member">{parts.join(' · ')}</bdi>
    </span>
  )
}

function Sign(props: { isGroup: boolean }) {
  const Icon = props.isGroup ? Users : Globe
  return (
    <span className="library-card-sign">
      <Icon size={13} aria-hidden />
    </span>
  )
}
