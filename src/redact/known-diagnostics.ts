/**
 * What Nsight Systems tells about a recording, word by word. Its sentences name files, people and machines among words
 * of its own; the copy keeps the words that are its own, and numbers.
 */
const words = new Set(
  `a absent account activity after all and any application applications as asynchronous at attempting auto avg backtrace been
   backtraces based be because before behavior buffer buffers build by call cannot capture cause change clock collect
   collected collecting collection common completely configure context control correctly could counter cpu cuda
   cudaprofilerstart cudaprofilerstop cudnn cublas cupti current cycles data deduced default device disabled does dropped driver due
   dwarf during enable enabled enabling error errors event events every exceeded failed few file flush flushed for found from
   gil gpu graph hardware has have holding in inaccurate incomplete information initialized injection installed instructions
   insufficient interrupts into invoked ip is it exception faults kernel remain large launch launched learn level levels libraries library limit loaded lost
   may memory metric metrics might missing mmap more must nic no not nsight nsys number nvtx occurred of on one opengl openacc
   openmp or os out output paranoid path perf performance period permission permissions pid please process processes processing
   produced profiler profiling program py python received recorded requires resolve resolved root runtime rx sample samples
   sampling scheduling see session set settings short should size skipping some started status stderr stdout stopped stream
   successfully sufficient supported support sw switch symbol symbols system systems take taken than that the their there this
   thread threads time to trace traced traces tracing tree trigger try tx unable unresolved unsupported use used user using
   version vulkan was were when while will with within without you your`.split(/\s+/),
);
const OPTION = /^--[a-z]+(?:-[a-z]+){0,5}$/;
const TOKEN = /\s+|\S+/g;

/** Each word that is not known gives way to dots; `note` is called once where any did. */
export function knownDiagnostic(text: string, note: () => void): string {
  let removed = false;
  const kept = (text.match(TOKEN) ?? []).map(token => {
    if (/^\s/.test(token) || token === '…') return token;
    const bare = token.toLowerCase().replace(/^['"([]+|['".,:;!?)\]]+$|\(\)[.,]?$/g, '');
    const isKnown =
      OPTION.test(bare) ||
      bare === '/proc/sys/kernel/perf_event_paranoid' ||
      /^\d+(?:\.\d+){0,2}$/.test(bare) ||
      bare.split(/[/-]/).every(part => words.has(part) || part === '');
    removed ||= !isKnown;
    return isKnown ? token : '…';
  });
  if (removed) note();
  return kept.join('');
}
