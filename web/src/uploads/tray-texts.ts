import { useFormats, useTexts } from '../texts/index.ts'
import { engine } from './browser-engine.ts'

/** Title of the tray: state and transfer rate. */
export function useTrayWords(): { title: string; about: string } {
  const texts = useTexts('uploads')
  const formats = useFormats()
  const { queue, preparing, found } = engine
  const { counts, all, work, workDone } = queue.totals
  const failed = counts.failed + counts.lost
  const scanning = found > 0 && texts.scanned(found, formats.number(found))
  if (preparing > 0 && !queue.isSending) return { title: texts.preparing, about: scanning || '' }
  if (queue.isBusy) {
    const percent = formats.number(Math.floor((100 * workDone) / Math.max(1, work)))
    const { bytesPerSecond, secondsLeft } = engine
    const about = [
      preparing > 0 && scanning,
      `${percent} %`,
      bytesPerSecond >= 1 && texts.perSecond(formats.size(bytesPerSecond)),
      secondsLeft !== undefined && bytesPerSecond >= 1 && texts.left(formats.duration(secondsLeft)),
    ]
    const title = texts.uploading(all, formats.number(counts.done), formats.number(all))
    return { title, about: about.filter(Boolean).join(' · ') }
  }
  if (counts.paused > 0) {
    const about = [
      texts.doneOf(formats.number(counts.done), formats.number(all)),
      failed > 0 && texts.failed(failed, formats.number(failed)),
    ]
    return { title: texts.paused, about: about.filter(Boolean).join(' · ') }
  }
  const done = texts.uploaded(counts.done, formats.number(counts.done))
  if (failed === 0) return { title: done, about: '' }
  const title =
    counts.failed === 0
      ? texts.lostSome(failed, formats.number(failed))
      : texts.failed(failed, formats.number(failed))
  return { title, about: counts.done > 0 ? done : '' }
}
