import { ArrowLeftRight, Download, Eye, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { canEdit, downloadFile, type Revision, useFileHistory, useLibrary } from '../api/index.ts'
import { kindOf } from '../file-kinds.ts'
import { fileUrl, historyUrl, revisionUrl } from '../navigation/index.ts'
import { nameOf } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import {
  Avatar,
  Button,
  ButtonLink,
  IconButton,
  LoadError,
  useFailureToast,
  useTitle,
  Waiting,
} from '../ui/index.ts'
import { CompareDialog } from './compare-dialog.tsx'
import { RestoreDialog } from './restore-dialog.tsx'

const COMPARED = new Set(['text', 'code', 'markdown'])

/** The revisions of one file, newest first. */
export function FileHistory({ libraryId, path }: { libraryId: string; path: string }) {
  const texts = useTexts('history')
  const common = useTexts('common')
  const library = useLibrary(libraryId)
  const history = useFileHistory(libraryId, path)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [dialog, setDialog] = useState<Revision | 'compare'>()
  useTitle(`${texts.historyOf} ${nameOf(path)}`)
  const error = library.error ?? history.error
  if (error) return <LoadError error={error} onRetry={() => void history.refetch()} />
  const revisions = history.data?.pages.flatMap(({ data }) => data)
  const mayCompare = COMPARED.has(kindOf(path)) && (revisions?.length ?? 0) > 1
  const pair = revisions?.filter(({ commit_id: id }) => chosen.includes(id)) ?? []
  const choose = (id: string) =>
    // At most two are selected; the first one is dropped.
    setChosen(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id].slice(-2))
  return (
    <div className="page">
      <header className="page-head">
        <h1>
          {texts.historyOf} <bdi>{nameOf(path)}</bdi>
        </h1>
        {mayCompare && (
          <Button icon={ArrowLeftRight} disabled={pair.length < 2} onClick={() => setDialog('compare')}>
            {texts.compare}
          </Button>
        )}
        <ButtonLink to={fileUrl(libraryId, path)} icon={Eye}>
          {texts.toFile}
        </ButtonLink>
        <ButtonLink to={historyUrl(libraryId)}>{texts.wholeHistory}</ButtonLink>
      </header>
      {mayCompare && <p className="muted">{texts.compareHint}</p>}
      {revisions === undefined && <Waiting />}
      <ol className="history-revisions card">
        {revisions?.map((revision, index) => (
          <RevisionRow
            key={`${revision.commit_id}${revision.path}`}
            libraryId={libraryId}
            revision={revision}
            path={path}
            isNewest={index === 0}
            chosen={mayCompare ? chosen.includes(revision.commit_id) : undefined}
            onChoose={() => choose(revision.commit_id)}
            onRestore={
              index > 0 && library.data && canEdit(library.data) ? () => setDialog(revision) : undefined
            }
          />
        ))}
      </ol>
      {history.hasNextPage && (
        <Button busy={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
          {common.loadMore}
        </Button>
      )}
      {dialog === 'compare' && pair[0] && pair[1] && (
        <CompareDialog
          libraryId={libraryId}
          newer={pair[0]}
          older={pair[1]}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog !== undefined && dialog !== 'compare' && (
        <RestoreDialog
          libraryId={libraryId}
          commitId={dialog.commit_id}
          what={{ kind: 'file', path: dialog.path }}
          onClose={() => setDialog(undefined)}
        />
      )}
    </div>
  )
}

function RevisionRow(props: {
  libraryId: string
  revision: Revision
  path: string
  isNewest: boolean
  /** Undefined if there is nothing to compare. */
  chosen: boolean | undefined
  onChoose: () => void
  onRestore: (() => void) | undefined
}) {
  const { libraryId, revision, isNewest, chosen } = props
  const texts = useTexts('history')
  const common = useTexts('common')
  const formats = useFormats()
  const failed = useFailureToast()
  const when = formats.moment(revision.ctime)
  const address = isNewest
    ? fileUrl(libraryId, revision.path)
    : revisionUrl(libraryId, revision.path, revision.commit_id)
  return (
    <li>
      {chosen !== undefined && (
        <input
          type="checkbox"
          className="history-check"
          aria-label={texts.compareThis(when)}
          checked={chosen}
          onChange={props.onChoose}
        />
      )}
      <Avatar email={revision.creator_email} name={revision.creator_name} size={34} />
      <div className="history-what">
        <p>
          <Link to={address} className="history-when">
            {when}
          </Link>
          {isNewest && <span className="badge badge-accent">{texts.now}</span>}
        </p>
        <p className="muted history-who">
          <bdi>{revision.creator_name || texts.system}</bdi>
          <span>{formats.ago(revision.ctime)}</span>
          <span>{formats.size(revision.size)}</span>
          {revision.path !== props.path && (
            <span>
              {texts.wasCalled} <bdi>{revision.path}</bdi>
            </span>
          )}
        </p>
      </div>
      <div className="row-actions">
        <IconButton
          label={texts.downloadOf(when)}
          icon={Download}
          onClick={() => void downloadFile(libraryId, revision.path, revision.commit_id).catch(failed)}
        />
        {props.onRestore && (
          <Button
            variant="quiet"
            icon={RotateCcw}
            aria-label={texts.restoreOf(when)}
            onClick={props.onRestore}
          >
            <span className="history-wide">{common.restore}</span>
          </Button>
        )}
      </div>
    </li>
  )
}
