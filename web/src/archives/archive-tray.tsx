import './archives.css'
import { CircleAlert, CircleCheck, FileArchive, X } from 'lucide-react'
import { useFormats, useTexts } from '../texts/index.ts'
import { IconButton, Progress, useErrorMessage } from '../ui/index.ts'
import { type Archive, cancelArchive, dismissArchive, useArchives } from './archives.ts'

/** Archives in preparation, on every page. */
export function ArchiveTray() {
  const texts = useTexts('archives')
  const archives = useArchives()
  return (
    <section className="archives" aria-label={texts.title} hidden={archives.length === 0}>
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
  const texts = useTexts('archives')
  const isRunning = state === 'starting' || state === 'packing'
  const name = title ?? texts.of(names[0] ?? '', names.length - 1)
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
        label={isRunning ? texts.cancel(name) : texts.dismiss(name)}
        onClick={() => (isRunning ? void cancelArchive(key) : dismissArchive(key))}
      />
    </div>
  )
}

function State({ state, zipped, total, failure }: Archive) {
  const texts = useTexts('archives')
  const formats = useFormats()
  const wording = useErrorMessage()
  switch (state) {
    case 'starting':
      return texts.starting
    case 'packing':
      return texts.progress(formats.number(zipped), formats.number(total))
    case 'saved':
      return texts.saved
    case 'canceled':
      return texts.canceled
    case 'failed':
      return failure === undefined ? texts.failed : `${texts.failed}: ${wording(failure)}`
  }
}
