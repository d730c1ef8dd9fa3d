import { Inbox, LogOut } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { type LibraryItem, leaveShared, permissionOf, useLibraries } from '../api/index.ts'
import { folderUrl } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Avatar, Button, ConfirmDialog, Empty, LoadError, useAction, Waiting } from '../ui/index.ts'

/** Libraries and folders shared with the user, which can be left. */
export function SharedWithMe() {
  const texts = useTexts('sharing')
  const libraries = useLibraries()
  if (libraries.isPending) return <Waiting />
  if (libraries.isError) return <LoadError error={libraries.error} onRetry={() => void libraries.refetch()} />
  const shared = libraries.data.filter(({ type }) => type === 'shared')
  if (shared.length === 0)
    return <Empty icon={Inbox} title={texts.nothingSharedWithMe} hint={texts.nothingSharedWithMeHint} />
  return (
    <ul className="sharing-rows card sharing-list">
      {shared.map((library) => (
        <Row key={library.repo_id} library={library} />
      ))}
    </ul>
  )
}

function Row(props: { library: LibraryItem }) {
  const { library } = props
  const texts = useTexts('sharing')
  const formats = useFormats()
  const act = useAction('libraries')
  const [leaving, setLeaving] = useState(false)
  const permission = permissionOf({ permission: library.permission, is_admin: library.is_admin ?? false })
  return (
    <li className="sharing-row sharing-row-full">
      <Avatar email={library.owner_email} name={library.owner_name} size={32} />
      <span className="sharing-names">
        <Link to={folderUrl(library.repo_id)} title={library.repo_name}>
          <bdi>{library.repo_name}</bdi>
        </Link>
        <span className="muted">
          <bdi>{library.owner_name}</bdi> · {formats.ago(library.last_modified)}
        </span>
      </span>
      <span className="badge">{texts.permissions[permission]}</span>
      <Button icon={LogOut} aria-label={texts.leaveNamed(library.repo_name)} onClick={() => setLeaving(true)}>
        <span className="sharing-deed">{texts.leave}</span>
      </Button>
      {leaving && (
        <ConfirmDialog
          title={texts.leaveNamed(library.repo_name)}
          text={texts.leaveHint}
          submit={texts.leave}
          onConfirm={() => act(() => leaveShared(library.repo_id, library.owner_email))}
          onClose={() => setLeaving(false)}
        />
      )}
    </li>
  )
}
