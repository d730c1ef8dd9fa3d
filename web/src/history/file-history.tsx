import { ArrowLeftRight, Download, Eye, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { canEdit, downloadFile, type Revision, useFileHistory, useLibrary } from '../api/index.ts'
import { kindOf } from '../file-kinds.ts'
import { fileUrl, historyUrl, revisionUrl } from '../navigation/index.ts'
import { nameOf, parentOf } from '../paths.ts'
import { type Texts, useFormats, useTexts } from '../texts/index.ts'
import {
  Avatar,
  Button,
  ButtonLink,
  IconButton,
  LoadError,
  Sentence,
  useFailureToast,
  useTitle,
  Waiting,
} from '../ui/index.ts'
import { CompareDialog } from './compare-dialog.tsx'
import { RestoreDialog } from './restore-dialog.tsx'

const kinds: readonly string[] = ['create', 'edit', 'rename', 'move', 'recover']
const isKnown = (kind: string): kind is keyof Texts['history']['revisions'] => kinds.includes(kind)

const COMPARED = new Set(['text', 'code', 'markdown'])

/** The revisions of one file, newest first. */
export function FileHistory({ libraryId, path }: { libraryId: string; path: string }) {
  const texts = useTexts('history')
  const common = useTexts('common')
  const library = useLibrary(libraryId)
  const history = useFileHistory(libraryId, path)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [restored, setRestored] = useState<Revision>()
  const [compared, setCompared] = useState<{ newer: Revision; older: Revision }>()
  useTitle(`${texts.historyOf} ${nameOf(path)}`)
  const error = library.error ?? history.error
  if (error) return <LoadError error={error} onRetry={() => void history.refetch()} />
  const revisions = history.data?.pages.flatMap(({ data }) => data)
  const mayCompare = COMPARED.has(kindOf(path)) && (revisions?.length ?? 0) > 1
  const [newer, older] = revisions?.filter(({ commit_id: id }) => chosen.includes(id)) ?? []
  const choose = (id: string) =>
    // At most two are selected; the first one is dropped.
    setChosen(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id].slice(-2))
  const compareWith = (revision: Revision, before: Revision | undefined) =>
    mayCompare && before ? () => setCompared({ newer: revision, older: before }) : undefined
  return (
    <div className="page">
      <header className="page-head">
        <h1>
          {texts.historyOf} <bdi>{nameOf(path)}</bdi>
        </h1>
        {mayCompare && (
          <Button
            icon={ArrowLeftRight}
            disabled={newer === undefined || older === undefined}
            onClick={() => newer && older && setCompared({ newer, older })}
          >
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
              index > 0 && library.data && canEdit(library.data) ? () => setRestored(revision) : undefined
            }
            onCompare={compareWith(revision, revisions[index + 1])}
          />
        ))}
      </ol>
      {history.hasNextPage && (
        <Button busy={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
          {common.loadMore}
        </Button>
      )}
      {compared && (
        <CompareDialog libraryId={libraryId} {...compared} onClose={() => setCompared(undefined)} />
      )}
      {restored && (
        <RestoreDialog
          libraryId={libraryId}
          commitId={restored.commit_id}
          what={{ kind: 'file', path: restored.path }}
          onClose={() => setRestored(undefined)}
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
  /** Compares with the revision before. */
  onCompare: (() => void) | undefined
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
      {revision.via_link ? (
        <Avatar email="" size={34} />
      ) : (
        <Avatar email={revision.creator_email} name={revision.creator_name} size={34} />
      )}
      <div className="history-what">
        <p>
          <Sentence
            sentence={texts.revisions[isKnown(revision.op_type) ? revision.op_type : 'edit']}
            parts={{
              who: (
                <strong>
                  <bdi>
                    {revision.via_link
                      ? common.visitor(revision.creator_name)
                      : revision.creator_name || texts.system}
                  </bdi>
                </strong>
              ),
              old: (
                <bdi className="history-name">
                  {revision.op_type === 'move' ? parentOf(revision.old_path) : nameOf(revision.old_path)}
                </bdi>
              ),
            }}
          />
          <span className="muted" aria-hidden>
            {' · '}
          </span>
          <time className="muted" dateTime={revision.ctime}>
            {formats.when(revision.ctime)}
          </time>
        </p>
        <p className="muted history-who">
          <Link to={address}>{when}</Link>
          <span>{formats.size(revision.size)}</span>
          {isNewest && <span className="badge badge-accent">{texts.now}</span>}
          {revision.path !== props.path && (
            <span>
              {texts.wasCalled} <bdi>{revision.path}</bdi>
            </span>
          )}
        </p>
      </div>
      <div className="row-actions history-row-actions">
        {props.onCompare && (
          <IconButton label={texts.compareBefore(when)} icon={ArrowLeftRight} onClick={props.onCompare} />
        )}
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
