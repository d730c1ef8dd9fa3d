import type { LibraryItem } from '../api/index.ts'
import { ShareDialog } from '../sharing/index.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { LeaveDialog } from './leave-dialog.tsx'
import { RenameDialog } from './rename-dialog.tsx'
import { SettingsDialog } from './settings-dialog.tsx'
import { TransferDialog } from './transfer-dialog.tsx'

export type DialogKind = 'share' | 'access' | 'rename' | 'settings' | 'transfer' | 'delete' | 'leave'

/** The open dialog and its library. */
export interface OpenDialog {
  readonly kind: DialogKind
  readonly library: LibraryItem
}

export default function LibraryDialogs(props: OpenDialog & { onClose: () => void }) {
  const { kind, library, onClose } = props
  const { repo_id: libraryId, repo_name: name } = library
  switch (kind) {
    case 'share':
      return <ShareDialog libraryId={libraryId} path="/" name={name} isDir onClose={onClose} />
    case 'access':
      return <ShareDialog libraryId={libraryId} path="/" name={name} isDir first="access" onClose={onClose} />
    case 'rename':
      return <RenameDialog library={library} onClose={onClose} />
    case 'settings':
      return <SettingsDialog library={library} onClose={onClose} />
    case 'transfer':
      return <TransferDialog library={library} onClose={onClose} />
    case 'delete':
      return <DeleteDialog library={library} onClose={onClose} />
    case 'leave':
      return <LeaveDialog library={library} onClose={onClose} />
  }
}
