/**
 * Takes a return type that hides a condition off a kernel's name. Comparisons inside it look like closing brackets,
 * and nsys writes them without parentheses, so that no count of brackets finds its end:
 *
 *   std::enable_if<T2>(int)0&&vllm::_typeConvert<T1>::exists, void>::type vllm::fused_add_rms_norm_kernel<…>(…)
 */
const conditional = /^(?:static )?(?:typename )?(?:std::)?(?:__\w{1,20}::)?enable_if(?:_t)?</;
const END = '>::type ';

export function withoutConditionalReturn(name: string): string {
  if (!conditional.test(name)) return name;
  const end = name.indexOf(END);
  return end < 0 ? name : name.slice(end + END.length);
}
