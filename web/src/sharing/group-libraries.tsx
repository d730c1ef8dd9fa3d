import { EllipsisVertical, FolderPlus, Library, Lock, Settings2, Unlink } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import {
  type GroupItem,
  type GroupLibrary,
  makeGroupLibrary,
  permissionOf,
  type SharePermission,
  unshareFromGroup,
  useGroupLibraries,
} from '../api/index.ts'
import { folderUrl } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import {
  Button,
  Empty,
  FormDialog,
  IconButton,
  LoadError,
  Menu,
  TextField,
  useAction,
  Waiting,
} from '../ui/index.ts'
import type { GroupRole } from './group-view.tsx'
import { PermissionSelect } from './permission-select.tsx'
import { ShareDialog } from './share-dialog.tsx'

/** Libraries shared with a group. */
export function GroupLibraries(props: { group: GroupItem; role: GroupRole }) {
  const { group, role } = props
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const libraries = useGroupLibraries(group.id)
  const [making, setMaking] = useState(false)
  const list = libraries.data?.pages.flat() ?? []
  return (
    <section className="stack" aria-label={texts.libraries}>
      <div className="sharing-section-head">
        <h2>{texts.libraries}</h2>
        <Button icon={FolderPlus} onClick={() => setMaking(true)}>
          {texts.newGroupLibrary}
        </Button>
      </div>
      {libraries.isPending && <Waiting />}
      {libraries.isError && <LoadError error={libraries.error} onRetry={() => void libraries.refetch()} />}
      {libraries.isSuccess && list.length === 0 && (
        <Empty icon={Library} title={texts.noGroupLibraries} hint={texts.noGroupLibrariesHint} />
      )}
      {list.length > 0 && (
        <ul className="sharing-rows card sharing-list">
          {list.map((library) => (
            <Row key={library.repo_id} group={group} library={library} role={role} />
          ))}
        </ul>
      )}
      {libraries.hasNextPage && (
        <Button busy={libraries.isFetchingNextPage} onClick={() => void libraries.fetchNextPage()}>
          {common.loadMore}
        </Button>
      )}
      {making && <NewLibrary group={group} onClose={() => setMaking(false)} />}
    </section>
  )
}

function Row(props: { group: GroupItem; library: GroupLibrary; role: GroupRole }) {
  const { group, library, role } = props
  const texts = useTexts('sharing')
  const formats = useFormats()
  const act = useAction('groups', 'libraries', 'shares')
  const [sharing, setSharing] = useState(false)
  const isOwner = library.owner_email === role.email
  const Sign = library.encrypted ? Lock : Library
  const entries = [
    (isOwner || library.is_admin) && {
      label: texts.shareSettings,
      icon: Settings2,
      onSelect: () => setSharing(true),
    },
    (isOwner || role.isAdmin) && {
      label: texts.unshareFromGroup,
      icon: Unlink,
      danger: true,
      onSelect: () => void act(() => unshareFromGroup(group.id, library.repo_id), texts.shareEnded),
    },
  ]
  return (
    <li className="sharing-row sharing-row-full">
      <span className="sharing-sign">
        <Sign size={17} aria-hidden />
      </span>
      <span className="sharing-names">
        <Link to={folderUrl(library.repo_id)} title={library.repo_name}>
          <bdi>{library.repo_name}</bdi>
        </Link>
        <span className="muted">
          <bdi>{library.owner_name}</bdi> · {formats.size(library.size)} ·{' '}
          {formats.when(library.last_modified)}
        </span>
      </span>
      <span className="badge">{texts.permissions[permissionOf(library)]}</span>
      {entries.some(Boolean) && (
        <Menu
          trigger={<IconButton label={texts.libraryMenu(library.repo_name)} icon={EllipsisVertical} />}
          entries={entries}
        />
      )}
      {sharing && (
        <ShareDialog
          libraryId={library.repo_id}
          path="/"
          name={library.repo_name}
          isDir
          onClose={() => setSharing(false)}
        />
      )}
    </li>
  )
}

function NewLibrary(props: { group: GroupItem; onClose: () => void }) {
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const refresh = useAction('groups', 'libraries')
  const [name, setName] = useState('')
  const [permission, setPermission] = useState<SharePermission>('rw')
  return (
    <FormDialog
      title={texts.newGroupLibrary}
      submit={common.create}
      disabled={name.trim() === ''}
      onSubmit={async () => {
        await makeGroupLibrary(props.group.id, name.trim(), permission)
        void refresh(async () => {})
      }}
      onClose={props.onClose}
    >
      <TextField
        label={texts.libraryName}
        maxLength={255}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <PermissionSelect value={permission} onChange={setPermission} />
    </FormDialog>
  )
}
