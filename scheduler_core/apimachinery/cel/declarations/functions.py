"""What CEL's standard library declares. How a line is read: declarations/reading.py.

kube: vendor/github.com/google/cel-go/common/stdlib/standard.go @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

OPERATORS = """
!_(bool) bool = logical_not SU
-_(double) double = negate_double SU
-_(int) int = negate_int64 SU
@in(A, list(A)) bool = in_list SB
@in(A, map(A, B)) bool = in_map SB
@not_strictly_false(bool) bool = not_strictly_false U
_!=_(A, A) bool = not_equals SB
_%_(int, int) int = modulo_int64 SB
_%_(uint, uint) uint = modulo_uint64 SB
_&&_(bool, bool) bool = logical_and SB
_*_(double, double) double = multiply_double SB
_*_(int, int) int = multiply_int64 SB
_*_(uint, uint) uint = multiply_uint64 SB
_+_(bytes, bytes) bytes = add_bytes SB
_+_(double, double) double = add_double SB
_+_(duration, duration) duration = add_duration_duration SB
_+_(duration, timestamp) timestamp = add_duration_timestamp SB
_+_(timestamp, duration) timestamp = add_timestamp_duration SB
_+_(int, int) int = add_int64 SB
_+_(list(A), list(A)) list(A) = add_list SB
_+_(string, string) string = add_string SB
_+_(uint, uint) uint = add_uint64 SB
_-_(double, double) double = subtract_double SB
_-_(duration, duration) duration = subtract_duration_duration SB
_-_(int, int) int = subtract_int64 SB
_-_(timestamp, duration) timestamp = subtract_timestamp_duration SB
_-_(timestamp, timestamp) duration = subtract_timestamp_timestamp SB
_-_(uint, uint) uint = subtract_uint64 SB
_/_(double, double) double = divide_double SB
_/_(int, int) int = divide_int64 SB
_/_(uint, uint) uint = divide_uint64 SB
_<=_(bool, bool) bool = less_equals_bool SB
_<=_(int, int) bool = less_equals_int64 SB
_<=_(int, double) bool = less_equals_int64_double SB
_<=_(int, uint) bool = less_equals_int64_uint64 SB
_<=_(uint, uint) bool = less_equals_uint64 SB
_<=_(uint, double) bool = less_equals_uint64_double SB
_<=_(uint, int) bool = less_equals_uint64_int64 SB
_<=_(double, double) bool = less_equals_double SB
_<=_(double, int) bool = less_equals_double_int64 SB
_<=_(double, uint) bool = less_equals_double_uint64 SB
_<=_(string, string) bool = less_equals_string SB
_<=_(bytes, bytes) bool = less_equals_bytes SB
_<=_(timestamp, timestamp) bool = less_equals_timestamp SB
_<=_(duration, duration) bool = less_equals_duration SB
_<_(bool, bool) bool = less_bool SB
_<_(int, int) bool = less_int64 SB
_<_(int, double) bool = less_int64_double SB
_<_(int, uint) bool = less_int64_uint64 SB
_<_(uint, uint) bool = less_uint64 SB
_<_(uint, double) bool = less_uint64_double SB
_<_(uint, int) bool = less_uint64_int64 SB
_<_(double, double) bool = less_double SB
_<_(double, int) bool = less_double_int64 SB
_<_(double, uint) bool = less_double_uint64 SB
_<_(string, string) bool = less_string SB
_<_(bytes, bytes) bool = less_bytes SB
_<_(timestamp, timestamp) bool = less_timestamp SB
_<_(duration, duration) bool = less_duration SB
_==_(A, A) bool = equals SB
_>=_(bool, bool) bool = greater_equals_bool SB
_>=_(int, int) bool = greater_equals_int64 SB
_>=_(int, double) bool = greater_equals_int64_double SB
_>=_(int, uint) bool = greater_equals_int64_uint64 SB
_>=_(uint, uint) bool = greater_equals_uint64 SB
_>=_(uint, double) bool = greater_equals_uint64_double SB
_>=_(uint, int) bool = greater_equals_uint64_int64 SB
_>=_(double, double) bool = greater_equals_double SB
_>=_(double, int) bool = greater_equals_double_int64 SB
_>=_(double, uint) bool = greater_equals_double_uint64 SB
_>=_(string, string) bool = greater_equals_string SB
_>=_(bytes, bytes) bool = greater_equals_bytes SB
_>=_(timestamp, timestamp) bool = greater_equals_timestamp SB
_>=_(duration, duration) bool = greater_equals_duration SB
_>_(bool, bool) bool = greater_bool SB
_>_(int, int) bool = greater_int64 SB
_>_(int, double) bool = greater_int64_double SB
_>_(int, uint) bool = greater_int64_uint64 SB
_>_(uint, uint) bool = greater_uint64 SB
_>_(uint, double) bool = greater_uint64_double SB
_>_(uint, int) bool = greater_uint64_int64 SB
_>_(double, double) bool = greater_double SB
_>_(double, int) bool = greater_double_int64 SB
_>_(double, uint) bool = greater_double_uint64 SB
_>_(string, string) bool = greater_string SB
_>_(bytes, bytes) bool = greater_bytes SB
_>_(timestamp, timestamp) bool = greater_timestamp SB
_>_(duration, duration) bool = greater_duration SB
_?._(dyn, string) optional_type(V) = select_optional_field
_?_:_(bool, A, A) A = conditional SF
_[?_](list(V), int) optional_type(V) = list_optindex_optional_int
_[?_](optional_type(list(V)), int) optional_type(V) = optional_list_optindex_optional_int
_[?_](map(K, V), K) optional_type(V) = map_optindex_optional_value
_[?_](optional_type(map(K, V)), K) optional_type(V) = optional_map_optindex_optional_value
_[_](list(A), int) A = index_list SB
_[_](map(A, B), A) B = index_map SB
_[_](optional_type(list(V)), int) optional_type(V) = optional_list_index_int SB
_[_](optional_type(map(K, V)), K) optional_type(V) = optional_map_index_value SB
_||_(bool, bool) bool = logical_or SB
"""

CONVERSIONS = """
bool(bool) bool = bool_to_bool U
bool(string) bool = string_to_bool U
bytes(bytes) bytes = bytes_to_bytes U
bytes(string) bytes = string_to_bytes U
double(double) double = double_to_double U
double(int) double = int64_to_double U
double(string) double = string_to_double U
double(uint) double = uint64_to_double U
duration(duration) duration = duration_to_duration U
duration(int) duration = int64_to_duration U
duration(string) duration = string_to_duration U
dyn(A) dyn = to_dyn SU
int(int) int = int64_to_int64 U
int(double) int = double_to_int64 U
int(duration) int = duration_to_int64 U
int(string) int = string_to_int64 U
int(timestamp) int = timestamp_to_int64 U
int(uint) int = uint64_to_int64 U
string(string) string = string_to_string U
string(bool) string = bool_to_string U
string(bytes) string = bytes_to_string U
string(double) string = double_to_string U
string(duration) string = duration_to_string U
string(int) string = int64_to_string U
string(timestamp) string = timestamp_to_string U
string(uint) string = uint64_to_string U
timestamp(timestamp) timestamp = timestamp_to_timestamp U
timestamp(int) timestamp = int64_to_timestamp U
timestamp(string) timestamp = string_to_timestamp U
type(A) type(A) = type SU
uint(uint) uint = uint64_to_uint64 U
uint(double) uint = double_to_uint64 U
uint(int) uint = int64_to_uint64 U
uint(string) uint = string_to_uint64 U
"""

MEMBERS = """
string.contains(string) bool = contains_string B!
string.endsWith(string) bool = ends_with_string B!
timestamp.getDate() int = timestamp_to_day_of_month_1_based U
timestamp.getDate(string) int = timestamp_to_day_of_month_1_based_with_tz B
timestamp.getDayOfMonth() int = timestamp_to_day_of_month U
timestamp.getDayOfMonth(string) int = timestamp_to_day_of_month_with_tz B
timestamp.getDayOfWeek() int = timestamp_to_day_of_week U
timestamp.getDayOfWeek(string) int = timestamp_to_day_of_week_with_tz B
timestamp.getDayOfYear() int = timestamp_to_day_of_year U
timestamp.getDayOfYear(string) int = timestamp_to_day_of_year_with_tz B
timestamp.getFullYear() int = timestamp_to_year U
timestamp.getFullYear(string) int = timestamp_to_year_with_tz B
timestamp.getHours() int = timestamp_to_hours U
timestamp.getHours(string) int = timestamp_to_hours_with_tz B
duration.getHours() int = duration_to_hours U
timestamp.getMilliseconds() int = timestamp_to_milliseconds U
timestamp.getMilliseconds(string) int = timestamp_to_milliseconds_with_tz B
duration.getMilliseconds() int = duration_to_milliseconds U
timestamp.getMinutes() int = timestamp_to_minutes U
timestamp.getMinutes(string) int = timestamp_to_minutes_with_tz B
duration.getMinutes() int = duration_to_minutes U
timestamp.getMonth() int = timestamp_to_month U
timestamp.getMonth(string) int = timestamp_to_month_with_tz B
timestamp.getSeconds() int = timestamp_to_seconds U
timestamp.getSeconds(string) int = timestamp_to_seconds_tz B
duration.getSeconds() int = duration_to_seconds U
matches(string, string) bool = matches SB
string.matches(string) bool = matches_string SB
size(bytes) int = size_bytes SU
bytes.size() int = bytes_size SU
size(list(A)) int = size_list SU
list(A).size() int = list_size SU
size(map(A, B)) int = size_map SU
map(A, B).size() int = map_size SU
size(string) int = size_string SU
string.size() int = string_size SU
string.startsWith(string) bool = starts_with_string B!
"""

# What cel-go's extensions declare as kube has them on: strings (version 2), lists (3), sets, optionals (2),
# two-variable comprehensions. How a line is read: declarations/reading.py.
#
# kube: vendor/github.com/google/cel-go/{ext/strings,ext/lists,ext/sets,ext/comprehensions,cel/library}.go @ v1.34.1
# (cel-go v0.26.0); apiserver/pkg/cel/environment/base.go @ v1.34.1

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

# What kube's own libraries declare: lists, regular expressions, URLs, quantities, IPs, CIDRs, formats, versions.
# The authorizer's are left out: nothing here answers its questions. How a line is read: declarations/reading.py.
#
# kube: apiserver/pkg/cel/library/*.go @ v1.34.1

KUBERNETES = """
kubernetes.Quantity.add(kubernetes.Quantity) kubernetes.Quantity = quantity_add B
kubernetes.Quantity.add(int) kubernetes.Quantity = quantity_add_int B
kubernetes.Quantity.asApproximateFloat() double = quantity_get_float U
kubernetes.Quantity.asInteger() int = quantity_get_int U
cidr(string) net.CIDR = string_to_cidr U
kubernetes.Quantity.compareTo(kubernetes.Quantity) int = quantity_compare_to B
kubernetes.Semver.compareTo(kubernetes.Semver) int = semver_compare_to B
net.CIDR.containsCIDR(string) bool = cidr_contains_cidr_string B
net.CIDR.containsCIDR(net.CIDR) bool = cidr_contains_cidr B
net.CIDR.containsIP(string) bool = cidr_contains_ip_string B
net.CIDR.containsIP(net.IP) bool = cidr_contains_ip_ip B
net.IP.family() int = ip_family U
string.find(string) string = string_find_string B
string.findAll(string) list(string) = string_find_all_string B
string.findAll(string, int) list(string) = string_find_all_string_int F
format.byte() kubernetes.NamedFormat = format.byte F
format.date() kubernetes.NamedFormat = format.date F
format.datetime() kubernetes.NamedFormat = format.datetime F
format.dns1035Label() kubernetes.NamedFormat = format.dns1035Label F
format.dns1035LabelPrefix() kubernetes.NamedFormat = format.dns1035LabelPrefix F
format.dns1123Label() kubernetes.NamedFormat = format.dns1123Label F
format.dns1123LabelPrefix() kubernetes.NamedFormat = format.dns1123LabelPrefix F
format.dns1123Subdomain() kubernetes.NamedFormat = format.dns1123Subdomain F
format.dns1123SubdomainPrefix() kubernetes.NamedFormat = format.dns1123SubdomainPrefix F
format.labelValue() kubernetes.NamedFormat = format.labelValue F
format.named(string) optional_type(kubernetes.NamedFormat) = format-named U
format.qualifiedName() kubernetes.NamedFormat = format.qualifiedName F
format.uri() kubernetes.NamedFormat = format.uri F
format.uuid() kubernetes.NamedFormat = format.uuid F
kubernetes.URL.getEscapedPath() string = url_get_escaped_path U
kubernetes.URL.getHost() string = url_get_host U
kubernetes.URL.getHostname() string = url_get_hostname U
kubernetes.URL.getPort() string = url_get_port U
kubernetes.URL.getQuery() map(string, list(string)) = url_get_query U
kubernetes.URL.getScheme() string = url_get_scheme U
list(A).indexOf(A) int = list_a_index_of_int B
ip(string) net.IP = string_to_ip U
net.CIDR.ip() net.IP = cidr_ip U
ip.isCanonical(string) bool = ip_is_canonical U
isCIDR(string) bool = is_cidr U
net.IP.isGlobalUnicast() bool = ip_is_global_unicast U
kubernetes.Quantity.isGreaterThan(kubernetes.Quantity) bool = quantity_is_greater_than B
kubernetes.Semver.isGreaterThan(kubernetes.Semver) bool = semver_is_greater_than B
isIP(string) bool = is_ip U
kubernetes.Quantity.isInteger() bool = quantity_is_integer U
kubernetes.Quantity.isLessThan(kubernetes.Quantity) bool = quantity_is_less_than B
kubernetes.Semver.isLessThan(kubernetes.Semver) bool = semver_is_less_than B
net.IP.isLinkLocalMulticast() bool = ip_is_link_local_multicast U
net.IP.isLinkLocalUnicast() bool = ip_is_link_local_unicast U
net.IP.isLoopback() bool = ip_is_loopback U
isQuantity(string) bool = is_quantity_string U
isSemver(string) bool = is_semver_string U
isSemver(string, bool) bool = is_semver_string_bool B
list(int).isSorted() bool = list_int_is_sorted_bool U
list(uint).isSorted() bool = list_uint_is_sorted_bool U
list(double).isSorted() bool = list_double_is_sorted_bool U
list(bool).isSorted() bool = list_bool_is_sorted_bool U
list(duration).isSorted() bool = list_duration_is_sorted_bool U
list(timestamp).isSorted() bool = list_timestamp_is_sorted_bool U
list(string).isSorted() bool = list_string_is_sorted_bool U
list(bytes).isSorted() bool = list_bytes_is_sorted_bool U
isURL(string) bool = is_url_string U
net.IP.isUnspecified() bool = ip_is_unspecified U
list(A).lastIndexOf(A) int = list_a_last_index_of_int B
kubernetes.Semver.major() int = semver_major U
net.CIDR.masked() net.CIDR = cidr_masked U
list(int).max() int = list_int_max_int U
list(uint).max() uint = list_uint_max_uint U
list(double).max() double = list_double_max_double U
list(bool).max() bool = list_bool_max_bool U
list(duration).max() duration = list_duration_max_duration U
list(timestamp).max() timestamp = list_timestamp_max_timestamp U
list(string).max() string = list_string_max_string U
list(bytes).max() bytes = list_bytes_max_bytes U
list(int).min() int = list_int_min_int U
list(uint).min() uint = list_uint_min_uint U
list(double).min() double = list_double_min_double U
list(bool).min() bool = list_bool_min_bool U
list(duration).min() duration = list_duration_min_duration U
list(timestamp).min() timestamp = list_timestamp_min_timestamp U
list(string).min() string = list_string_min_string U
list(bytes).min() bytes = list_bytes_min_bytes U
kubernetes.Semver.minor() int = semver_minor U
kubernetes.Semver.patch() int = semver_patch U
net.CIDR.prefixLength() int = cidr_prefix_length U
quantity(string) kubernetes.Quantity = string_to_quantity U
semver(string) kubernetes.Semver = string_to_semver U
semver(string, bool) kubernetes.Semver = string_bool_to_semver B
sign(kubernetes.Quantity) int = quantity_sign U
string(net.IP) string = ip_to_string U
string(net.CIDR) string = cidr_to_string U
kubernetes.Quantity.sub(kubernetes.Quantity) kubernetes.Quantity = quantity_sub B
kubernetes.Quantity.sub(int) kubernetes.Quantity = quantity_sub_int B
list(int).sum() int = list_int_sum_int U
list(uint).sum() uint = list_uint_sum_uint U
list(double).sum() double = list_double_sum_double U
list(duration).sum() duration = list_duration_sum_duration U
url(string) kubernetes.URL = string_to_url U
kubernetes.NamedFormat.validate(string) optional_type(list(string)) = format-validate B
"""
