/** Machines, containers and pods. */
import { ask, type Chapter } from './statement.js';

const BENCH = 'trtllm-bench --model M throughput --dataset d.txt --warmup 0';

export const machines: readonly Chapter[] = [
  {
    title: 'The machine',
    statements: [
      ask(
        'DE',
        'Is nsys installed, and where?',
        'doctor',
        'Finds every nsys, also outside PATH, and tries a capture',
        /Nsight Systems 2025\.3\.1\.90 at/,
        /nsys-report/,
      ),
      ask(
        'D',
        'Is a GPU there?',
        'doctor',
        'Lists the GPUs, or says that there is none and what still works',
        /gpu {2,}(nvidia-smi|.*NVIDIA|\d+ ×)/,
      ),
      ask(
        'D',
        'Add nsys to PATH and check its version',
        'doctor',
        'Not needed: the usual folders are searched, and NSYS names another one',
        /Nsight Systems 2025\.3\.1\.90 at/,
      ),
      ask(
        'D',
        'May this user sample the CPU and read GPU counters?',
        'doctor',
        'Checks both rights and names the setting',
        /cpu-sampling/,
        /gpu-counters/,
      ),
      ask(
        'DE',
        'Do the versions fit together?',
        'doctor',
        'Compares driver and nsys, and lists the engines that are installed',
        /driver {2,}driver/,
        /engines {2,}|Python was not found/,
      ),
      ask(
        'B',
        'Is there enough disk space for a capture?',
        'doctor',
        'Checks the output and temporary folders',
        /disk {2,}.* free/,
        /temporary {2,}.* free/,
      ),
    ],
  },
  {
    title: 'Containers and pods',
    statements: [
      ask(
        'D',
        'Run the capture in a pod',
        `capture --pod llama3-nim-0 -n serving -o llama3_nim_profile --iterations 100-150 -- ${BENCH}`,
        'Starts it there, detached from the connection, and copies the report back',
        /In pod llama3-nim-0 \(namespace serving\):/,
        /copied to llama3_nim_profile/,
      ),
      ask(
        'D',
        'Install nsys in a container that lacks it',
        `capture --pod llama3-nim-0 --nsys-deb nsight-systems-cli-2025.6.1.deb -- ${BENCH}`,
        'Copies the package there and installs it as the guide does, or unpacks a folder without root (--nsys-tree)',
        /nsys: that of the machine, otherwise nsight-systems-cli-2025\.6\.1\.deb is installed there \(needs root\)/,
      ),
      ask(
        'D',
        'Root in the container',
        `capture --pod llama3-nim-0 --nsys-deb nsys.deb -- ${BENCH}`,
        'Says what needs root: the package. Kernels and ranges do not; CPU samples and GPU metrics are checked in the pod',
        /needs root/,
      ),
      ask(
        'D',
        'The script: a pod and a name, nothing else',
        'capture --attach --pod sglang-llama-xxx -o sglang_llama_profile',
        'Profiles the server that runs there through its endpoints or the agent, or says why it cannot (scripts/run-nsys-profile.sh)',
        /Nothing is started/,
        /pod sglang-llama-xxx/,
      ),
      ask(
        'D',
        'Run the server itself under nsys, as the guide’s script does',
        'capture --restart --pod tgi-mistral-xxx -o tgi_mistral_profile',
        'Restarts the deployment under the profiler and changes it back, if your account may',
        /patch the command back, whatever happened/,
      ),
      ask(
        'D',
        'The same for every framework’s pod',
        'capture --attach --selector app=llm -n serving -o profile',
        'Finds pods by label and captures one after the other',
        /every running pod with the labels app=llm/,
      ),
      ask(
        'D',
        'Keep results in a common folder',
        `capture --store out/results -o run -- ${BENCH}`,
        'Puts every file into S3-compatible storage or a mounted volume as well',
        /also put into .*results/,
      ),
      ask(
        'D',
        'No permission to profile',
        'doctor',
        'Names the setting for CPU samples and GPU counters',
        /perf_event_paranoid/,
      ),
      ask(
        'D',
        'The profile of a server, not of its client',
        'capture --delay 60s --duration 30s --preset tgi -- text-generation-launcher --model-id M',
        'Wraps the server and sends the requests itself',
        /text-generation-launcher/,
        /send requests/,
      ),
    ],
  },
];
