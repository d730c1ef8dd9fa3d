import './archives.css'
import { CircleAlert, CircleCheck, FileArchive, X } from 'lucide-react'
import { useFormats, useTexts } from '../texts/index.ts'
import { IconButton, Progress, useErrorMessage } from '../ui/index.ts'
import { type Archive, cancelArchive, dismissArchive, useArchives } from './archives.ts'

/** Archives in preparation, on every page. */
export function ArchiveTray() {
  const texts = useTexts('libraries')
  const archives = useArchives()
  return (
    <section className="archives" aria-label={texts.archives} hidden={archives.length === 0}>
      {archives.map((archive) => (
        <ArchiveCard key={archive.key} archive={archive} />
      ))}
    </section>
  )
}

const signs = {
  starting: FileArchive,
  packing: FileArchive,
  saved: CircleCheck,
  canceled: FileArchive,
  failed: CircleAlert,
}

function ArchiveCard(props: { archive: Archive }) {
  const { key, names, title, state, zipped, total } = props.archive
  const texts = useTexts('libraries')
  const isRunning = state === 'starting' || state === 'packing'
  const name = title ?? texts.archiveOf(names[0] ?? '', names.length - 1)
  const Sign = signs[state]
  return (
    <div className={`card archives-card archives-${state}`}>
      <Sign size={22} aria-hidden />
      <div className="archives-words">
        <bdi className="archives-name" title={name}>
          {name}
        </bdi>
        <span className="archives-state" role={state === 'failed' ? 'alert' : 'status'}>
          <State {...props.archive} />
        </span>
        {isRunning && <Progress value={total === 0 ? 0 : zipped / total} label={name} />}
      </div>
      <IconButton
        icon={X}
        label={isRunning ? texts.archiveCancel(name) : texts.archiveDismiss(name)}
        onClick={() => (isRunning ? void cancelArchive(key) : dismissArchive(key))}
      />
    </div>
  )
}

function State({ state, zipped, total, failure }: Archive) {
  const texts = useTexts('libraries')
  const formats = useFormats()
  const wording = useErrorMessage()
  switch (state) {
    case 'starting':
      return texts.archiveStarting
    case 'packing':
      return texts.archiveProgress(formats.number(zipped), formats.number(total))
    case 'saved':
      return texts.archiveSaved
    case 'canceled':
      return texts.archiveCanceled
    case 'failed':
      return failure === undefined ? texts.archiveFailed : `${texts.archiveFailed}: ${wording(failure)}`
  }
}
