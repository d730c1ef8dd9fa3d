import { useQueryClient } from '@tanstack/react-query'
import {
  ArrowLeft,
  Download,
  EllipsisVertical,
  History,
  Lock,
  LockOpen,
  type LucideIcon,
  MessageSquare,
  RotateCcw,
  Share2,
  Star,
} from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { downloadFile, setLock, setStar, useLibrary } from '../api/index.ts'
import { RestoreDialog } from '../history/index.ts'
import { historyUrl } from '../navigation/index.ts'
import { parentOf } from '../paths.ts'
import { ShareDialog } from '../sharing/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import {
  FileIcon,
  IconButton,
  Menu,
  ONE_COLUMN,
  useFailureToast,
  useMedia,
  visibleName,
} from '../ui/index.ts'
import { FileSteps } from './file-steps.tsx'
import type { OpenedFile } from './opened-file.ts'
import type { SiblingNavigation } from './sibling-files.ts'

interface Action {
  readonly label: string
  readonly icon: LucideIcon
  readonly run: () => void
  readonly pressed?: boolean
  readonly className?: string
}

/** Header of the viewer: name, navigation and actions. */
export function FileBar(props: {
  file: OpenedFile
  stepping: SiblingNavigation
  isGone: boolean
  /** Called with the place for buttons of the view. */
  onSlot: (slot: HTMLElement | null) => void
  showsComments: boolean
  onComments: () => void
}) {
  const { file, stepping } = props
  const texts = useTexts('viewer')
  const common = useTexts('common')
  const photos = useTexts('photos')
  const narrow = useMedia(ONE_COLUMN)
  const [dialog, setDialog] = useState<'share' | 'restore'>()
  const actions = useActions(file, props.isGone, setDialog, {
    pressed: props.showsComments,
    run: props.onComments,
  })
  const { libraryId, path, commitId, name } = file
  const toBack = stepping.isTimeline ? photos.backToPhotos : texts.toFolder
  return (
    <header className="viewer-bar">
      <Link to={stepping.back} className="icon-button" title={toBack} aria-label={toBack}>
        <ArrowLeft size={19} aria-hidden />
      </Link>
      <FileIcon name={name} />
      <div className="viewer-title">
        <h1 title={name}>
          <bdi>{visibleName(name)}</bdi>
        </h1>
        <About file={file} />
      </div>
      <div className="viewer-actions">
        <div ref={props.onSlot} className="viewer-slot" />
        {stepping.count > 1 && <FileSteps stepping={stepping} />}
        {narrow ? (
          <Menu
            trigger={<IconButton label={common.more} icon={EllipsisVertical} />}
            entries={actions.map(({ label, icon, run }) => ({ label, icon, onSelect: run }))}
          />
        ) : (
          actions.map(({ label, icon, run, pressed, className }) => (
            <IconButton
              key={label}
              label={label}
              icon={icon}
              className={className}
              aria-pressed={pressed}
              onClick={run}
            />
          ))
        )}
      </div>
      {dialog === 'share' && (
        <ShareDialog
          libraryId={libraryId}
          path={path}
          name={name}
          isDir={false}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog === 'restore' && commitId !== undefined && (
        <RestoreDialog
          libraryId={libraryId}
          commitId={commitId}
          what={{ kind: 'file', path }}
          onClose={() => setDialog(undefined)}
        />
      )}
    </header>
  )
}

function About({ file }: { file: OpenedFile }) {
  const texts = useTexts('viewer')
  const common = useTexts('common')
  const formats = useFormats()
  const { entry, size, mtime, commitId } = file
  return (
    <p className="viewer-about muted">
      <span>{formats.size(size)}</span>
      <span title={formats.moment(mtime)}>
        {formats.when(mtime)}
        {entry.modifier_name && (
          <>
            {' · '}
            <bdi>{entry.modifier_via_link ? common.visitor(entry.modifier_name) : entry.modifier_name}</bdi>
          </>
        )}
      </span>
      {commitId !== undefined && <span className="badge badge-accent">{texts.earlier}</span>}
      {entry.is_locked && (
        <span className={`badge${entry.locked_by_me ? '' : ' badge-warn'}`}>
          <Lock size={13} aria-hidden />
          {entry.locked_by_me ? texts.lockedByMe : texts.lockedBy(entry.lock_owner_name ?? '')}
        </span>
      )}
    </p>
  )
}

function useActions(
  file: OpenedFile,
  isGone: boolean,
  open: (dialog: 'share' | 'restore') => void,
  comments: Pick<Action, 'pressed' | 'run'>,
): readonly Action[] {
  const texts = useTexts('viewer')
  const common = useTexts('common')
  const { comments: commentsLabel } = useTexts('annotations')
  const isEncrypted = useLibrary(file.libraryId).data?.encrypted === true
  const queries = useQueryClient()
  const failed = useFailureToast()
  const [, go] = useLocation()
  const { libraryId, path, commitId, entry, isEditable, mayWrite } = file
  const changed = async (change: Promise<unknown>) => {
    try {
      await change
      await queries.invalidateQueries({ queryKey: ['dir', libraryId, parentOf(path)] })
      await queries.invalidateQueries({ queryKey: ['starred'] })
      await queries.invalidateQueries({ queryKey: ['photos'] })
    } catch (error) {
      failed(error)
    }
  }
  const download: Action = {
    label: common.download,
    icon: Download,
    run: () => void downloadFile(libraryId, path, commitId).catch(failed),
  }
  const history: Action = {
    label: texts.history,
    icon: History,
    run: () => go(historyUrl(libraryId, path)),
  }
  if (isGone) return [history]
  if (commitId !== undefined) {
    const restore = { label: common.restore, icon: RotateCcw, run: () => open('restore') }
    return mayWrite ? [download, history, restore] : [download, history]
  }
  return [
    {
      label: entry.starred ? texts.unstar : texts.star,
      icon: Star,
      className: 'viewer-star',
      pressed: entry.starred,
      run: () => void changed(setStar(libraryId, path, !entry.starred)),
    },
    ...(isEditable
      ? [
          {
            label: entry.is_locked ? texts.unlock : texts.lock,
            icon: entry.is_locked ? LockOpen : Lock,
            run: () => void changed(setLock(libraryId, path, !entry.is_locked)),
          },
        ]
      : []),
    { label: common.share, icon: Share2, run: () => open('share') },
    ...(isEncrypted ? [] : [{ label: commentsLabel, icon: MessageSquare, ...comments }]),
    history,
    download,
  ]
}
