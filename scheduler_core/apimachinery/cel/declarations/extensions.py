"""What cel-go's extensions declare as kube has them on: strings (version 2), lists (3), sets, optionals (2),
two-variable comprehensions. How a line is read: declarations/reading.py.

kube: vendor/github.com/google/cel-go/{ext/strings,ext/lists,ext/sets,ext/comprehensions,cel/library}.go @ v1.34.1
(cel-go v0.26.0); apiserver/pkg/cel/environment/base.go @ v1.34.1
"""

from __future__ import annotations

TEXT = """
string.charAt(int) string = string_char_at_int B
string.format(list(dyn)) string = string_format F
string.indexOf(string) int = string_index_of_string B
string.indexOf(string, int) int = string_index_of_string_int F
list(string).join() string = list_join U
list(string).join(string) string = list_join_string B
string.lastIndexOf(string) int = string_last_index_of_string B
string.lastIndexOf(string, int) int = string_last_index_of_string_int F
string.lowerAscii() string = string_lower_ascii U
string.replace(string, string) string = string_replace_string_string F
string.replace(string, string, int) string = string_replace_string_string_int F
string.split(string) list(string) = string_split_string B
string.split(string, int) list(string) = string_split_string_int F
strings.quote(string) string = strings_quote U
string.substring(int) string = string_substring_int B
string.substring(int, int) string = string_substring_int_int F
string.trim() string = string_trim U
string.upperAscii() string = string_upper_ascii U
"""

LISTS = """
list(T).@sortByAssociatedKeys(list(int)) list(T) = list_int_sortByAssociatedKeys SB
list(T).@sortByAssociatedKeys(list(uint)) list(T) = list_uint_sortByAssociatedKeys SB
list(T).@sortByAssociatedKeys(list(double)) list(T) = list_double_sortByAssociatedKeys SB
list(T).@sortByAssociatedKeys(list(bool)) list(T) = list_bool_sortByAssociatedKeys SB
list(T).@sortByAssociatedKeys(list(duration)) list(T) = list_google.protobuf.Duration_sortByAssociatedKeys SB
list(T).@sortByAssociatedKeys(list(timestamp)) list(T) = list_google.protobuf.Timestamp_sortByAssociatedKeys SB
list(T).@sortByAssociatedKeys(list(string)) list(T) = list_string_sortByAssociatedKeys SB
list(T).@sortByAssociatedKeys(list(bytes)) list(T) = list_bytes_sortByAssociatedKeys SB
cel.@mapInsert(map(K, V), K, V) map(K, V) = @mapInsert_map_key_value F
cel.@mapInsert(map(K, V), map(K, V)) map(K, V) = @mapInsert_map_map B
list(T).distinct() list(T) = list_distinct U
list(list(T)).flatten() list(T) = list_flatten U!
list(dyn).flatten(int) list(dyn) = list_flatten_int B!
lists.range(int) list(int) = lists_range U
list(T).reverse() list(T) = list_reverse U
sets.contains(list(T), list(T)) bool = list_sets_contains_list B
sets.equivalent(list(T), list(T)) bool = list_sets_equivalent_list B
sets.intersects(list(T), list(T)) bool = list_sets_intersects_list B
list(T).slice(int, int) list(T) = list_slice F
list(int).sort() list(int) = list_int_sort SU
list(uint).sort() list(uint) = list_uint_sort SU
list(double).sort() list(double) = list_double_sort SU
list(bool).sort() list(bool) = list_bool_sort SU
list(duration).sort() list(duration) = list_google.protobuf.Duration_sort SU
list(timestamp).sort() list(timestamp) = list_google.protobuf.Timestamp_sort SU
list(string).sort() list(string) = list_string_sort SU
list(bytes).sort() list(bytes) = list_bytes_sort SU
"""

OPTIONALS = """
list(V).first() optional_type(V) = list_first U
optional_type(V).hasValue() bool = optional_hasValue U
list(V).last() optional_type(V) = list_last U
optional.none() optional_type(V) = optional_none F
optional.of(V) optional_type(V) = optional_of U
optional.ofNonZeroValue(V) optional_type(V) = optional_ofNonZeroValue U
optional.unwrap(list(optional_type(V))) list(V) = optional_unwrap U
optional_type(V).or(optional_type(V)) optional_type(V) = optional_or_optional
optional_type(V).orValue(V) V = optional_orValue_value
list(optional_type(V)).unwrapOpt() list(V) = optional_unwrapOpt U
optional_type(V).value() V = optional_value U
"""
